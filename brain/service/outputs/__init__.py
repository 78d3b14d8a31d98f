"""What goes out through a door, as types: the shapes of API §7, from which the service's own description is made.

Members that may be missing are `NotRequired`: what has no value is left out, and never null unless it says so.
"""
