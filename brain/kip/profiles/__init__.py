"""Our Schema Packages and the JSON Schemas they pin, as data; see README.md for how to change them."""
