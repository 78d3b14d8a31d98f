"""From a request to its answer: start reading the engine here.

`Engine.execute` is the whole way: strict JSON, the envelope's shape, each operation parsed and judged, then run one by
one or all in one transaction. Reading is `read.run_find` and `describe.run_meta`, writing is `write.run_kml`; what
stands around them (transactions, keys, receipts) is in `operate.py`, `atomic.py` and `commit.py`.
"""

from __future__ import annotations

import copy
import secrets
import threading
import traceback
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog

from brain import errors
from brain.kip import ast, capabilities, govern, respond, strict_json
from brain.kip.atomic import all_or_none
from brain.kip.context import Answer, Limits, Outcome, Run, Session, check_deadline
from brain.kip.describe import run_meta
from brain.kip.describe.artifacts import previewed
from brain.kip.done import skipped
from brain.kip.envelope import Request, read_request
from brain.kip.governance import approvals
from brain.kip.governance.access import Planes
from brain.kip.governance.transitions import Move, transition
from brain.kip.operate import Operator, ledger_of
from brain.kip.parser import language_of, parse
from brain.kip.prepare import Prepared, prepare
from brain.kip.read import pinned_seq, run_find
from brain.kip.resolve import Binder
from brain.kip.schema import Environment
from brain.kip.scopes import has_search
from brain.kip.templates import Templates
from brain.kip.write import run_kml
from brain.store.base import Document, ElementId, Kind, Snapshot, SpaceMissing, SpaceStore, Transaction
from brain.times import Clock, Seq

if TYPE_CHECKING:
    from brain.kip.library import PackageLibrary
    from brain.store.embedding import Embedder

_KEYS = ("kip.engine", "keys")
_ENVIRONMENTS = 64
NO_IDENTITY: Document = {"version": 0, "self": None, "decisions": {}}
"""The identity document of a Space without a self and without merges."""
_HOST = Session(principal_id="kip:principal:system", channel="host")

_log = structlog.get_logger(__name__)


class Engine:
    """The KIP engine of one Space. Thread-safe and synchronous.

    embedder  offers the search modes semantic and hybrid, as far as `store.embedding.index_pending` has got with it;
              None leaves search to words
    """

    def __init__(
        self,
        space: SpaceStore,
        library: PackageLibrary,
        *,
        clock: Clock,
        limits: Limits | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self.space = space
        self.library = library
        self.clock = clock
        self.limits = limits or Limits()
        self.embedder = embedder
        self.space_uri = f"kip:space:{space.space_id}"
        self.cursor_key = _cursor_key(space)
        self.planes = Planes()
        self.templates = Templates()
        self._ends_ms: float | None = None
        self._environments: dict[int, Environment] = {}
        self._lock = threading.Lock()

    @staticmethod
    def birth_controls(library: PackageLibrary, packages: Iterable[str] = ()) -> dict[str, Document]:
        """The control documents of a new Space with these packages active, for `Store.create`."""
        return {"schema": library.birth(packages), "identity": NO_IDENTITY}

    def until(self, ends: float) -> Engine:
        """The same engine for work that has to end: all its requests by a moment of the monotonic clock, in seconds."""
        bounded = copy.copy(self)
        bounded._ends_ms = ends * 1000
        return bounded

    def execute(self, request: Mapping[str, Any] | bytes | str, session: Session) -> Outcome:
        """Run a request envelope (§70 to §84) and answer with a response envelope; never raises a KipError.

        request  JSON text, or the object it states
        raises   SpaceMissing when the Space was deleted or closed: there is nobody to answer for it
        """
        began_ms = monotonic() * 1000
        raw: Any = request
        try:
            if isinstance(request, (bytes, str)):
                raw = strict_json.read(request)
            elif strict_json.check(raw):
                raw = strict_json.with_lists(raw)
            envelope = read_request(raw, self.limits)
            govern.require_principal(session)
            self._require(envelope)
            deadline_ms = None if envelope.deadline_ms is None else began_ms + envelope.deadline_ms
            if self._ends_ms is not None:
                deadline_ms = self._ends_ms if deadline_ms is None else min(deadline_ms, self._ends_ms)
            prepared = prepare(envelope, session, lambda: check_deadline(deadline_ms))
            return self._run(envelope, prepared, session, deadline_ms)
        except errors.KipError as error:
            return Outcome(respond.refused(error, raw), ())
        except SpaceMissing:
            raise
        except Exception as error:  # noqa: BLE001 - a defect is answered and logged, without content
            return Outcome(respond.refused(self.report(error), raw), ())

    def run(
        self,
        command: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        session: Session = _HOST,
        **envelope: Any,
    ) -> Outcome:
        """Execute one command, for hosts and tests; `envelope` takes further members of the request."""
        operation = {"command": command, "parameters": dict(parameters or {})}
        return self.execute({"kip": "2.0", "operations": [operation], **envelope}, session)

    def designate_self(self, concept: ElementId, session: Session) -> None:
        """Make a Concept the Space's self (§5.6), which no statement can; a commit of its own when it is news.

        raises  NotAuthorized without `manage_actor_binding`, NotFoundOrNotVisible for anything but a Concept in use
        """

        def body(move: Move) -> None:
            found = move.access.snapshot.elements([concept]).get(concept)
            if found is None or found.kind is not Kind.CONCEPT or found.state != "active":
                raise errors.NotFoundOrNotVisible(f"{concept} is no Concept that could be the self.")
            identity = move.tx.control("identity") or NO_IDENTITY
            if identity["self"] != concept:
                move.controls["identity"] = {**identity, "self": concept, "version": identity["version"] + 1}
                move.details = {"self": concept}

        transition(self, session, "designate_self", "manage_actor_binding", body)

    def _run(self, request: Request, prepared: list[Prepared], session: Session, deadline_ms: float | None) -> Outcome:
        operator = Operator(self, request, session, deadline_ms)
        if request.mode == "atomic":
            done = all_or_none(operator, prepared)
        else:
            done = []
            for place, entry in enumerate(prepared):
                stopped = request.mode == "sequence" and request.on_error == "stop"
                if stopped and any(one.result["status"] == "failed" for one in done):
                    done.append(skipped(entry))
                else:
                    done.append(operator.one(entry, part=place if len(prepared) > 1 else None))
        response = respond.response(
            [one.result for one in done],
            request_id=request.request_id,
            execution=request.execution,
            space_uri=self.space_uri,
            environment_version=operator.environment_version,
            receipt=operator.receipt,
            outcome_unknown=operator.outcome_unknown,
        )
        return Outcome(response, tuple(one.trace for one in done))

    # --- what the operations of a request are run with ----------------------------------------------------------------

    def answer(self, statement: ast.Statement | None, run: Run) -> Answer:
        """What a statement that reads answers."""
        if isinstance(statement, ast.Find):
            govern.permit(run.session, "read")
            if has_search(statement.where):
                govern.permit(run.session, "search")
            return run_find(statement, run)
        return run_meta(statement, run)  # type: ignore[arg-type]

    def preview(self, statement: ast.Preview, run: Run, tx: Transaction) -> Answer:
        """What a KML text would do, tried in a transaction that the caller undoes.

        raises  InvalidSyntax, LanguageMismatch for a text that is no KML; ExecutionTimeout, which says nothing of it
        """
        text = Binder.of(run).text(statement.value, "PREVIEW KML")
        inner: Any = parse(text, run.check_deadline)
        if language_of(inner) != "KML":
            raise errors.LanguageMismatch(f"PREVIEW KML takes KML, and this is {language_of(inner)}.")
        try:
            ledger = ledger_of(run, tx)
            answer, write_set = run_kml(inner, run, tx, ledger=ledger)
            waiting_for = approvals.needed(run.plane, ledger.asked)
            if waiting_for:
                raise errors.RequiresApproval(details={"permissions": waiting_for})
        except errors.ExecutionTimeout:
            raise
        except errors.KipError as error:
            return previewed(error)
        return previewed(answer, write_set)

    def environment(self, snapshot: Snapshot) -> Environment:
        """The vocabulary as of a snapshot; each version is worked out once."""
        document = snapshot.control("schema")
        if document is None:
            raise errors.HistoricalSchemaUnavailable()
        version = int(document["version"])
        found = self._environments.get(version)
        if found is None:
            try:
                found = Environment.load(document, self.library)
            except (errors.DigestMismatch, errors.SchemaPackageUnavailable) as error:
                if snapshot.seq >= self.space.head():
                    raise
                raise errors.HistoricalSchemaUnavailable(
                    f"The vocabulary of sequence {snapshot.seq} is of packages that are no longer here.",
                    details={"seq": snapshot.seq, **error.details},
                ) from error
            with self._lock:
                while len(self._environments) >= _ENVIRONMENTS:
                    del self._environments[next(iter(self._environments))]
                self._environments[version] = found
        return found

    def read_seq(self, prepared: Prepared, token: str | None) -> Seq | None:
        """The sequence a read is pinned to, by its cursor, by AS OF SEQ or by a snapshot token; None for the head."""
        if isinstance(prepared.statement, ast.Find):
            pinned = pinned_seq(prepared.statement, prepared.operation.parameters, self.cursor_key)
            if pinned is not None:
                return pinned
        return None if token is None else self._token_seq(token)

    def report(self, error: Exception) -> errors.InternalError:
        """Log a defect by its kind and place, without any content, and give the error a caller sees."""
        frames = traceback.extract_tb(error.__traceback__)
        place = [f"{frame.filename.rpartition('brain/')[2]}:{frame.lineno}" for frame in frames[-6:]]
        _log.error("kip.fault", kind=type(error).__name__, place=place, space=self.space.space_id)
        return error if isinstance(error, errors.InternalError) else errors.InternalError()

    def _require(self, request: Request) -> None:
        """The Space a request names, and the capabilities it cannot do without (§5.5, §67.4)."""
        space_id, uri = request.space.get("id"), request.space.get("uri")
        if space_id not in (None, self.space.space_id, self.space_uri) or uri not in (None, self.space_uri):
            raise errors.NotFoundOrNotVisible("This is not the Space the request names.")
        for name, wanted in request.requires.items():
            held = capabilities.is_held(name, self.embedder)
            if held is None or not isinstance(wanted, bool) or wanted != held:
                raise errors.UnsupportedCapability(
                    f"The request requires {name} to be {wanted}, which is not so here.",
                    details={"capability": name, "required": wanted, "offered": held},
                )

    def _token_seq(self, token: str) -> Seq:
        prefix = f"kip:snapshot:{self.space_uri}:"
        try:
            text = bytes.fromhex(token).decode("ascii")
        except ValueError:
            text = ""
        number = text.removeprefix(prefix)
        if not text.startswith(prefix) or not number.isdigit():
            raise errors.CursorInvalid("This is no snapshot token of this Space.")
        return int(number)


def _cursor_key(space: SpaceStore) -> bytes:
    """The Space's own key for cursors, made on first use and the same in every process."""
    with space.snapshot() as snapshot:
        found = snapshot.get(*_KEYS)
    if found is None:
        with space.transaction() as tx:
            found = tx.get(*_KEYS)
            if found is None:
                found = {"cursor": secrets.token_hex(32)}
                tx.set(*_KEYS, found)
    return bytes.fromhex(str(found["cursor"]))
