"""One of several processes that meet an empty database at the same moment; `python -m tests.store.starting WHEN NAME`.

At WHEN, seconds since the epoch, it makes the Space NAME and writes to it; it prints the Space's head.
"""

from __future__ import annotations

import json
import sys
import time

from tests.store.building import concept, write
from tests.store.opened import opened


def main(when: float, name: str) -> int:
    store = opened()
    time.sleep(max(0.0, when - time.time()))
    space = store.create(name, now_ms=0)
    write(space, concept("C-1", name="Alice"))
    head = space.head()
    store.close()
    return head


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]), sys.argv[2])))  # noqa: T201
