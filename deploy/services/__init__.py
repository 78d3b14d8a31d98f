"""A real Neo4j and a real Redis on a machine without Docker: for tests, CI and local use.

`python -m deploy.services start` from the project's root, or `Services(folder).start("redis")` in Python. Standard
library only, so that it runs before anything is installed. Linux and macOS.
"""

from deploy.services.errors import ServiceError
from deploy.services.manager import Services, State

__all__ = ["ServiceError", "Services", "State"]
