"""What `brain` does as a program among others of a shell."""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_reader_that_has_seen_enough_ends_a_command_without_a_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "brain", "cwt", "keys"],
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")
