"""The command line: `brain serve`, `brain demo`, `brain kip`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brain import __version__
from brain.auth import command as cwt
from brain.backup import command as backup
from brain.doctor import command as doctor
from brain.service import command as managing
from brain.settings import Settings, SettingsError, load_settings, use_proxy

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

_SHORT_FLAGS = {"listen_addr": "--addr", "local_db_path": "--db", "worker_concurrency": "--concurrency"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code: 0 done, 1 failed, 2 wrong words or settings."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.command is None:
        parser.print_help()
        return 2
    if asked.command == "cwt":
        return cwt.run(asked)
    try:
        given = {name: value for name in Settings.model_fields if (value := getattr(asked, name)) is not None}
        settings = load_settings(**given)
        use_proxy(settings)
        code: int = asked.run(asked, settings)
    except SettingsError as fault:
        print(fault, file=sys.stderr)
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="brain", description="A memory service for AI agents.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    serve = commands.add_parser("serve", help="start the service")
    serve.set_defaults(run=_serve)

    worker = commands.add_parser("worker", help="do the background work of a deployment with WORK_QUEUE=celery")
    worker.add_argument("--queues", help="kinds of work to take, comma-separated; all unless given")
    worker.add_argument("--beat", action="store_true", help="keep time as well, as `brain beat` does")
    worker.set_defaults(run=_worker)

    beat = commands.add_parser("beat", help="keep time for the workers of a deployment with WORK_QUEUE=celery")
    beat.set_defaults(run=_beat)

    demo = commands.add_parser("demo", help="start the service, play a tour through its HTTP API, keep serving")
    demo.add_argument("--once", action="store_true", help="stop after the tour; exit code 0 when every step was right")
    demo.set_defaults(run=_demo)

    kip = commands.add_parser("kip", help="run one KIP command on a Space of this machine and print the answer")
    kip.add_argument("space", help="id of the Space")
    kip.add_argument("text", help="the command")
    kip.add_argument("--parameters", default="{}", help="JSON object bound to the command's :parameters")
    kip.add_argument("--plan", action="store_true", help="print how a FIND would be run instead of running it")
    kip.set_defaults(run=_kip)

    cwt.add_parser(commands)

    for command in (
        serve,
        worker,
        beat,
        demo,
        kip,
        *backup.add_parsers(commands),
        *managing.add_parsers(commands),
        *doctor.add_parsers(commands),
    ):
        settings = command.add_argument_group("settings", "Each stands for the environment variable of its name.")
        for name, field in Settings.model_fields.items():
            flags = [f"--{name.replace('_', '-')}", *([_SHORT_FLAGS[name]] if name in _SHORT_FLAGS else [])]
            settings.add_argument(*flags, dest=name, metavar="VALUE", help=field.description)
    return parser


def _serve(_: argparse.Namespace, settings: Settings) -> int:
    from brain.serve import serve

    return serve(settings)


def _worker(asked: argparse.Namespace, settings: Settings) -> int:
    from workers.kinds import QUEUES
    from workers.worker import work

    queues = QUEUES if asked.queues is None else [name.strip() for name in asked.queues.split(",")]
    return work(settings, queues=queues, with_beat=asked.beat)


def _beat(_: argparse.Namespace, settings: Settings) -> int:
    from workers.beat import beat

    return beat(settings)


def _demo(asked: argparse.Namespace, settings: Settings) -> int:
    from brain.demo.tour import demo

    return demo(settings, once=asked.once)


def _kip(asked: argparse.Namespace, settings: Settings) -> int:
    from brain import logs
    from brain.app import spaces_for
    from brain.service.failures import ServiceFailure
    from brain.service.hosting import HOST

    logs.configure(settings.log_level, stream=sys.stderr)
    try:
        parameters = json.loads(asked.parameters)
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict):
        print("--parameters must be a JSON object", file=sys.stderr)
        return 2
    spaces = spaces_for(settings)
    try:
        with spaces.use(asked.space) as space:
            if asked.plan:
                return _print_plan(space.engine, asked.text, parameters)
            response = space.engine.run(asked.text, parameters, session=HOST).response
    except ServiceFailure as failure:
        print(failure.message, file=sys.stderr)
        return 1
    finally:
        spaces.close()
    print(json.dumps(response, indent=2, ensure_ascii=False))
    return 0 if response["status"] == "succeeded" else 1


def _print_plan(engine: Engine, text: str, parameters: dict[str, Any]) -> int:
    from brain.errors import KipError
    from brain.kip.planned import planned
    from brain.service.hosting import HOST

    try:
        print(planned(engine, text, parameters, HOST))
    except KipError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0
