"""Run the black-box contract of the HTTP door: `python -m conformance api FOLDER [--store STORE] [pytest arguments]`.

Starts the suite's own stand-in for a model provider and the servers of ours its README asks for (one asks for
credentials, one has narrow budgets), then its cases.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.places import add_option, settings_of
from conformance.servers import brain_server, free_port, process, wait_until_up


def main(arguments: list[str]) -> int:
    """The exit code of the suite's pytest run."""
    parser = argparse.ArgumentParser(prog="python -m conformance api", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the suite")
    add_option(parser)
    options, of_pytest = parser.parse_known_args(arguments)
    folder = options.folder.resolve()
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brain-api-")))
        model_port = free_port()
        model = f"http://127.0.0.1:{model_port}"
        command = [sys.executable, str(folder / "fakellm.py"), "--port", str(model_port)]
        child = stack.enter_context(
            process([*command, "--log", str(scratch / "model.jsonl")], os.environ, log=scratch / "model.log")
        )
        wait_until_up(f"{model}/healthz", child)
        common = {
            "MODEL_FAMILY": "openai",
            "MODEL_NAME": "fake-1",
            "MODEL_API_BASE": f"{model}/v1",
            "MODEL_API_KEY": "x",
            "SPACE_PACKAGES": "",
            "MEMORY_ATTRIBUTION": "open",
            "LOG_LEVEL": "warning",
            **settings_of(options.store),
        }
        plain = stack.enter_context(brain_server(common))
        limited = stack.enter_context(brain_server({**common, "LLM_MAX_CONCURRENCY": "1", "HTTP_MAX_CONCURRENCY": "4"}))
        minter = [sys.executable, str(folder / "mint_cwt.py")]
        guarded = stack.enter_context(
            brain_server(
                {
                    **common,
                    "ED25519_PUBKEYS": _line([*minter, "keygen", "--seed", "7"]),
                    "MANAGERS": _line([*minter, "principal", "--bytes", "01"]),
                }
            )
        )
        urls = {"BRAIN_URL": plain, "FAKELLM_URL": model, "BRAIN_LIMIT_URL": limited, "BRAIN_AUTH_URL": guarded}
        environment = {**os.environ, **urls}
        run = [sys.executable, "-m", "pytest", str(folder / "api_cases.py"), "-q", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*run, "--runxfail", "-c", os.devnull, "--rootdir", str(folder), *of_pytest],
            env=environment,
            cwd=scratch,
            check=False,
        ).returncode


def _line(command: list[str]) -> str:
    """The one line a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
