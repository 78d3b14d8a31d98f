"""What goes wrong with a service, said so that a person can act on it."""


class ServiceError(Exception):
    """A service cannot be installed, started or stopped. The text says which, why, and what to do."""
