"""The tour: a Space, a conversation, three questions and a maintenance cycle, through the service's own HTTP API.

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
from typing import Any

import httpx

from brain import logs
from brain.serve import Server, address_of, bind
from brain.settings import Settings

_OWNER = "uuc56-gyb"
_WAIT_S = 120.0


class TourFailed(Exception):
    """A step that did not come out as it should."""


@dataclass(slots=True)
class Tour:
    """One play of the tour against a base address."""

    client: httpx.Client
    script: dict[str, Any]
    space: str = ""
    faults: list[str] = field(default_factory=list)

    def play(self) -> list[str]:
        """Every step in order; what was not as expected."""
        self._heading("What is here")
        info = self._request("GET", "/info")
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
            body = {"user": _OWNER, "space_id": self.space, "tier": 1}
            answer = self.client.post("/admin/create_space", json=body)
            if answer.status_code == 200:
                self._shown("POST /admin/create_space", body, answer)
                return
            if "already exists" not in answer.text:
                raise TourFailed(f"the Space could not be created: {answer.text}")
        raise TourFailed("no free name for the Space")

    def _form(self) -> None:
        self._heading("2. Post a conversation")
        for message in self.script["messages"]:
            self._say(f"{message['name']:>14}: {message['content']}")
        body = {"messages": self.script["messages"], "context": self.script["context"]}
        accepted = self._request("POST", f"/v1/{self.space}/formation", body, show_body=False)
        ended = self._wait(f"/v1/{self.space}/conversations/{accepted['conversation']}")
        self._expect(ended["status"] == "completed", f"the formation ended as {ended['status']}")
        self._say(f"formed by {ended.get('model')}: {len(ended['extra']['memory_refs'])} elements written")
        rows = self._kip("FIND(?p, ?a.asserted_by, ?a.asserted_at) WHERE { ?a ASSERTION {proposition: ?p} }")
        names = self._names()
        for proposition, actor, at in rows:
            said = self._sentence(proposition, names)
            self._say(f"  {said}   (said by {names.get(actor['id'], actor['id'])}, {at[:10]})")
        self._expect(len(rows) >= self.script["claims_at_least"], f"only {len(rows)} claims were formed")

    def _ask(self, question: dict[str, Any]) -> None:
        self._heading(f"3. Ask: {question['query']}   [{question['kind']}]")
        body = {"query": question["query"]}
        answer = self._request("POST", f"/v1/{self.space}/recall_structured", body)
        text: str = answer["answer"]
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
        started = self._request("POST", f"/v1/{self.space}/maintenance", {"trigger": "on_demand", "scope": "full"})
        path = f"/v1/{self.space}/conversations/{started['conversation']}?collection=maintenance"
        ended = self._wait(path)
        self._expect(ended["status"] == "completed", f"the cycle ended as {ended['status']}")
        self._say(f"report    {ended['extra']['content']}")
        status = self._request("GET", f"/v1/{self.space}/memory_status")
        self._say(f"memory    {status['graph']}")

    # --- the wire -----------------------------------------------------------------------------------------------------

    def _request(self, method: str, path: str, body: Any = None, *, show_body: bool = True) -> Any:
        answer = self.client.request(method, path, json=body)
        self._shown(f"{method} {path}", body if show_body else None, answer)
        if answer.status_code != 200:
            raise TourFailed(f"{method} {path} answered {answer.status_code}: {answer.text}")
        payload = answer.json()
        return payload.get("result", payload)

    def _wait(self, path: str) -> dict[str, Any]:
        begun = time.monotonic()
        while time.monotonic() - begun < _WAIT_S:
            record: dict[str, Any] = self.client.get(path).json()["result"]
            if record["status"] in {"completed", "failed", "cancelled"}:
                self._say(f"{record['status']} after {(time.monotonic() - begun) * 1000:.0f} ms")
                return record
            time.sleep(0.05)
        raise TourFailed(f"{path} did not end within {_WAIT_S:.0f} s")

    def _kip(self, command: str, **parameters: Any) -> Any:
        body = {"command": command, "parameters": parameters}
        answer = self._request("POST", f"/v1/{self.space}/execute_kip_readonly", body)
        if answer["status"] != "succeeded":
            raise TourFailed(f"{command}: {json.dumps(answer)}")
        return answer["results"][0]["result"]

    def _names(self) -> dict[str, str]:
        concepts = self.client.post(
            f"/v1/{self.space}/execute_kip_readonly", json={"command": "FIND(?c.id, ?c.name) WHERE { ?c CONCEPT {} }"}
        ).json()["results"][0]["result"]
        return {element_id: name for element_id, name in concepts if name}

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

    def _shown(self, what: str, body: Any, answer: httpx.Response) -> None:
        sent = f"  {json.dumps(body, ensure_ascii=False)}" if body is not None else ""
        self._say(f"→ {what}{sent}")
        self._say(f"← {answer.status_code} in {answer.elapsed.total_seconds() * 1000:.1f} ms")

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
            with httpx.Client(base_url=url, timeout=180, transport=httpx.HTTPTransport(retries=40)) as client:
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
    except (TourFailed, httpx.HTTPError) as fault:
        sys.stderr.write(f"the tour stopped: {fault}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0
