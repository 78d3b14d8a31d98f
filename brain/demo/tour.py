"""The tour: a Space, a conversation, three questions and a maintenance cycle, through the service's own client.

It prints every request, answer, citation and time as a reader would want them, and checks that each step came out as it
should. What is said and asked stands in `tour.json`; nothing here knows the answers' wording beyond a word each must or
must not hold.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from brain import logs
from brain.client import BrainError, Client, InvalidRequest, Retries, kip_result, requests
from brain.serve import Server, address_of, bind
from brain.settings import Settings

if TYPE_CHECKING:
    from brain.client import types as t
    from brain.client.calls import Call

T = TypeVar("T")

_OWNER = "uuc56-gyb"
_WAIT_S = 120.0


class TourFailed(Exception):
    """A step that did not come out as it should."""


@dataclass(slots=True)
class Tour:
    """One play of the tour against a base address."""

    client: Client
    script: dict[str, Any]
    space: str = ""
    faults: list[str] = field(default_factory=list)

    def play(self) -> list[str]:
        """Every step in order; what was not as expected."""
        self._heading("What is here")
        info = self._run(requests.info())
        self._say(f"{info['name']} {info['version']}, Memory Interface {info['memory_interface']['kip_memory']}")
        self._create_space()
        self._form()
        for question in self.script["questions"]:
            self._ask(question)
        self._maintain()
        return self.faults

    def _create_space(self) -> None:
        self._heading("1. Create a Space")
        for number in range(1, 10_000):
            self.space = self.script["space"] if number == 1 else f"{self.script['space']}_{number}"
            try:
                self._run(requests.create_space(self.space, user=_OWNER, tier=1))
            except InvalidRequest as refused:
                if "already exists" not in refused.message:
                    raise
            else:
                return
        raise TourFailed("no free name for the Space")

    def _form(self) -> None:
        self._heading("2. Post a conversation")
        for message in self.script["messages"]:
            self._say(f"{message['name']:>14}: {message['content']}")
        messages, context = self.script["messages"], self.script["context"]
        accepted = self._run(requests.form(self.space, messages, context=context), show_body=False)
        ended = self._ended(accepted["conversation"], "formation")
        self._say(f"formed by {ended.get('model')}: {len(ended['extra']['memory_refs'])} elements written")
        rows = self._kip("FIND(?p, ?a.asserted_by, ?a.asserted_at) WHERE { ?a ASSERTION {proposition: ?p} }")
        concepts = self.client.space(self.space).kip("FIND(?c.id, ?c.name) WHERE { ?c CONCEPT {} }")
        names = {element_id: name for element_id, name in concepts if name}
        for proposition, actor, at in rows:
            said = self._sentence(proposition, names)
            self._say(f"  {said}   (said by {names.get(actor['id'], actor['id'])}, {at[:10]})")
        self._expect(len(rows) >= self.script["claims_at_least"], f"only {len(rows)} claims were formed")

    def _ask(self, question: dict[str, Any]) -> None:
        self._heading(f"3. Ask: {question['query']}   [{question['kind']}]")
        answer = self._run(requests.ask(self.space, question["query"]))
        text = answer["answer"]
        self._say(f"answer    {text}")
        self._say(f"found     {answer['found']}   (model {answer['model']})")
        for memory in answer.get("memories", []):
            self._say(f"citation  {memory['entity']:<6} {memory.get('type', '')} {memory.get('name') or ''}")
        self._expect(answer["found"] is question["found"], f"{question['query']}: found is {answer['found']}")
        for word in question.get("has", []):
            self._expect(word.lower() in text.lower(), f"{question['query']}: the answer lacks {word!r}: {text}")
        for word in question.get("lacks", []):
            self._expect(word.lower() not in text.lower(), f"{question['query']}: the answer holds {word!r}: {text}")
        if question["found"]:
            self._expect(bool(answer.get("memories")), f"{question['query']}: the answer cites nothing")

    def _maintain(self) -> None:
        self._heading("4. Run a maintenance cycle")
        started = self._run(requests.maintain(self.space, "full", trigger="on_demand"))
        ended = self._ended(started["conversation"], "maintenance")
        self._say(f"report    {ended['extra']['content']}")
        status = self._run(requests.memory_status(self.space))
        self._say(f"memory    {status['graph']}")

    # --- the wire -----------------------------------------------------------------------------------------------------

    def _run(self, call: Call[T], *, show_body: bool = True) -> T:
        """Send a request, and show it as it goes over the wire."""
        sent = f"  {json.dumps(call.body, ensure_ascii=False)}" if show_body and call.body is not None else ""
        self._say(f"→ {call.method} {call.path}{sent}")
        begun = time.monotonic()
        try:
            return self.client.run(call)
        finally:
            self._say(f"← in {(time.monotonic() - begun) * 1000:.1f} ms")

    def _ended(self, number: int, collection: t.Collection) -> dict[str, Any]:
        """A run once it has ended well; RunFailed, NotInTime."""
        begun = time.monotonic()
        record = self.client.space(self.space).ended(number, collection, seconds=_WAIT_S)
        self._say(f"{record['status']} after {(time.monotonic() - begun) * 1000:.0f} ms")
        return dict(record)

    def _kip(self, command: str) -> Any:
        response = self._run(requests.execute_kip_readonly(self.space, command))
        return kip_result(response)

    def _sentence(self, proposition: dict[str, Any], names: dict[str, str]) -> str:
        value = proposition["object"]
        spoken = names.get(value["id"], value["id"]) if isinstance(value, dict) else json.dumps(value)
        subject = names.get(proposition["subject"]["id"], proposition["subject"]["id"])
        return f"{subject} — {proposition['predicate_ref'].rsplit('/', 1)[1]} → {spoken}"

    # --- the page -----------------------------------------------------------------------------------------------------

    def _expect(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(fault)
            self._say(f"NOT AS EXPECTED: {fault}")

    def _heading(self, text: str) -> None:
        sys.stdout.write(f"\n── {text} " + "─" * max(3, 76 - len(text)) + "\n")

    def _say(self, text: str) -> None:
        width = min(shutil.get_terminal_size((118, 40)).columns, 160)
        sys.stdout.write(
            textwrap.fill(text, width, initial_indent="  ", subsequent_indent="            ", replace_whitespace=False)
            + "\n"
        )
        sys.stdout.flush()


def load_script() -> dict[str, Any]:
    """What the tour says and asks."""
    script: dict[str, Any] = json.loads(files("brain.demo").joinpath("tour.json").read_text("utf-8"))
    return script


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The service on a thread of this process; its base address."""
    listener = bind(settings)
    server = Server(settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="brain-serve", daemon=True)
    thread.start()
    try:
        yield f"http://{address_of(listener)}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.close()


def demo(settings: Settings, *, once: bool) -> int:
    """Serve, play the tour, then keep serving or, with `once`, stop; 0 when every step was as expected."""
    logs.configure("warning" if settings.log_level == "info" else settings.log_level, stream=sys.stderr)
    try:
        with serving(settings) as url:
            with Client(url, retries=Retries(attempts=8)) as client:
                faults = Tour(client, load_script()).play()
            verdict = "The tour came out as it should." if not faults else f"{len(faults)} steps were not as expected."
            sys.stdout.write(f"\n{verdict}\n")
            if once:
                return 1 if faults else 0
            sys.stdout.write(f"Still serving at {url} — stop with Ctrl-C.\n")
            sys.stdout.flush()
            threading.Event().wait()
    except OSError as fault:
        sys.stderr.write(f"cannot listen on {settings.listen_addr}: {fault.strerror}\n")
        return 1
    except (TourFailed, BrainError) as fault:
        sys.stderr.write(f"the tour stopped: {fault}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0
