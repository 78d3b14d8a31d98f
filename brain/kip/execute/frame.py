"""What the steps of one execution share: which cell is whose, the graph, and how to read values out of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from brain.ids import lineage_of
from brain.kip import paths
from brain.kip.algebra import Access, Step, cells_of
from brain.kip.execute.bindings import Batch, BeliefValue, Datum, EdgeValue, Row
from brain.kip.execute.graph import Graph
from brain.kip.execute.validity import Validities, is_validity
from brain.kip.values import Ref, SymbolValue, Value
from brain.store.base import Repeated

BATCH = 512
"""Rows that go through a step together."""

WIDE = 32
"""Values of one row from which on the rows of a batch take so long together that each looks at the clock."""

T = TypeVar("T")

Reader = Callable[[Row], Value]
"""Reads a value out of a row."""


def _made_once(_: Step) -> None:
    return None


@dataclass(slots=True)
class Frame:
    """
    cells       variable name to its place in a row
    repeated    which part of a template a part of the plan was filled from
    natively    whether the store may run what it can by itself
    branches    rows of UNION blocks that ran, by the step's identity
    validities  the computed validity of derivations
    """

    graph: Graph
    cells: Mapping[str, int]
    natively: bool = True
    repeated: Callable[[Step], Repeated | None] = _made_once
    branches: dict[int, list[Batch]] = field(default_factory=dict)
    validities: Validities = field(init=False)

    def __post_init__(self) -> None:
        self.validities = Validities(self.graph)

    @classmethod
    def of(cls, plan: Step, graph: Graph, *, natively: bool = True) -> Frame:
        return cls(graph, cells_of(plan), natively)

    def empty_row(self) -> Row:
        return [None] * len(self.cells)

    def symbol(self, ref: str, kind: str) -> SymbolValue:
        """An exact symbol reference as a binding."""
        environment = self.graph.run.environment
        return SymbolValue(ref, environment.canonical_lineage(kind, lineage_of(ref)))  # type: ignore[arg-type]

    # --- reading rows -------------------------------------------------------------------------------------------------

    def reader(self, access: Access) -> Reader:
        """A function that reads a variable or path from rows. `load` the rows first."""
        place, steps, graph = self.cells[access.variable], access.steps, self.graph
        now, canonical = graph.run.now, graph.canonical
        if not steps:
            return lambda row: value_of(row[place])
        if is_validity(steps):
            validity, rest = self.validities.of, steps[2:]
            return lambda row: paths.follow(validity(cell), rest) if isinstance(cell := row[place], str) else None
        if steps == ("id",):
            plain = self._read_slowly(place, steps)
            return lambda row: cell if isinstance(cell := row[place], str) else plain(row)

        slowly = self._read_slowly(place, steps)
        is_stored, follow = paths.is_stored(steps), paths.follow

        def read(row: Row) -> Value:
            cell = row[place]
            if not isinstance(cell, str):
                return slowly(row)
            element = graph.element(cell)
            if element is None:
                return None
            return follow(element.body, steps) if is_stored else paths.member(element, steps, now, canonical)

        return read

    def _read_slowly(self, place: int, steps: tuple[Any, ...]) -> Reader:
        """Paths into what is no element."""

        def read(row: Row) -> Value:
            match row[place]:
                case Datum(value=value):
                    return paths.follow(value, steps)
                case BeliefValue(wire=wire):
                    return paths.follow(wire, steps)
                case EdgeValue() as edge:
                    return paths.follow(self.edge_view(edge), steps)
            return None

        return read

    def output(self, access: Access) -> Reader:
        """The same as JSON: a bare element is its whole view, a symbol its exact reference."""
        if access.steps:
            return self.reader(access)
        place, graph = self.cells[access.variable], self.graph

        def show(row: Row) -> Value:
            match row[place]:
                case str(element_id):
                    element = graph.element(element_id)
                    return None if element is None else paths.view(element, graph.run.now)
                case Datum(value=value):
                    return value
                case SymbolValue(ref=ref):
                    return ref
                case BeliefValue(wire=wire):
                    return wire
                case EdgeValue() as edge:
                    return self.edge_view(edge)
            return None

        return show

    def edge_view(self, edge: EdgeValue) -> dict[str, Any]:
        """What is known of a structural reference; the field by its exact symbol."""
        return {
            "source": {"id": edge.source},
            "field": self._exact_field(edge),
            "target": {"id": edge.target},
            "index": edge.position,
        }

    def _exact_field(self, edge: EdgeValue) -> str:
        source = self.graph.element(edge.source)
        stored = source.body.get("structural", {}) if source is not None else {}
        written = next((symbol for symbol in stored if lineage_of(symbol) == edge.field), None)
        if written is not None or "/" not in edge.field:
            return written or edge.field
        declared = self.graph.run.environment.definitions("structural_field")
        return next((one.symbol.ref for one in declared if one.symbol.lineage == edge.field), edge.field)

    def load(self, rows: Batch, accesses: Iterable[Access]) -> None:
        """Read at once every element that these accesses will look into."""
        accesses = list(accesses)
        places = {self.cells[access.variable] for access in accesses if access.steps != ("id",)}
        ids = set()
        for place in places:
            for row in rows:
                cell = row[place]
                if isinstance(cell, str):
                    ids.add(cell)
                elif isinstance(cell, EdgeValue):
                    ids.add(cell.source)
        self.graph.load(ids)
        computed = {self.cells[access.variable] for access in accesses if is_validity(access.steps)}
        if computed:
            self.validities.load(cell for place in computed for row in rows if isinstance(cell := row[place], str))


def in_batches(rows: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Rows as they are made, never more than so many at once: whoever takes them looks at the clock in between."""
    left = iter(rows)
    while batch := list(islice(left, size)):
        yield batch


def value_of(cell: Any) -> Value:
    """A cell as a value of expressions."""
    match cell:
        case str(element_id):
            return Ref(element_id)
        case Datum(value=value):
            return value
        case BeliefValue(wire=wire):
            return wire
        case EdgeValue() as edge:
            return {"source": edge.source, "field": edge.field, "target": edge.target, "index": edge.position}
    return cell
