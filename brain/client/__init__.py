"""The Python client: `Client` for programs that wait, `AsyncClient` for those that do not (docs/client.md).

with Client("http://127.0.0.1:8042", token=TOKEN) as brain:
    home = brain.space("home")
    run = home.form([{"role": "user", "name": "Ana Ruiz", "content": "I moved to Lisbon."}])
    home.ended(run["conversation"])
    print(home.ask("Where does Ana live?")["answer"])
"""

from brain.client.aio import AsyncClient, AsyncSpace
from brain.client.calls import kip_result
from brain.client.errors import (
    AccessClosed,
    BrainError,
    Busy,
    Conflict,
    ConnectionLost,
    InvalidRequest,
    KipFailed,
    NotAuthenticated,
    NotFound,
    NotInTime,
    Refused,
    RunFailed,
    ServiceFailed,
    UnexpectedAnswer,
)
from brain.client.pages import Change, Page
from brain.client.retries import Retries
from brain.client.sync import Client, Space

__all__ = [
    "AccessClosed",
    "AsyncClient",
    "AsyncSpace",
    "BrainError",
    "Busy",
    "Change",
    "Client",
    "Conflict",
    "ConnectionLost",
    "InvalidRequest",
    "KipFailed",
    "NotAuthenticated",
    "NotFound",
    "NotInTime",
    "Page",
    "Refused",
    "Retries",
    "RunFailed",
    "ServiceFailed",
    "Space",
    "UnexpectedAnswer",
    "kip_result",
]
