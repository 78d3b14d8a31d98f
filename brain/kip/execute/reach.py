"""Paths of several hops (KIP 2.0 §45): which ends can be reached from which, each pair once.

A path walks stored Propositions, never belief. Nodes are compared after following merges. All starts of a batch walk
together: one store call per hop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from brain import errors
from brain.ids import is_element_id, object_key
from brain.kip.algebra import Alternative, Reach
from brain.kip.execute.bindings import Batch, Binding, Row, Walk, end_binding
from brain.kip.execute.ends import End, stored
from brain.kip.execute.frame import BATCH, Frame, in_batches
from brain.kip.schema import PredicateType
from brain.store.base import Element, Kind, Scan, TupleScan

Node: TypeAlias = str
"""A node's key: the id its merges lead to, or a Literal's canonical text."""

Trace: TypeAlias = tuple[Binding, tuple[str, ...]]
"""What a node is bound to, and the Propositions of one walk to it."""

Reached: TypeAlias = dict[Node, Trace]


def reach(step: Reach, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with every pair of ends that one of the alternatives joins."""
    subject, object_ = End.of(step.subject, frame), End.of(step.object, frame)
    walk = frame.cells[step.walk]
    for batch in batches:
        forward = [row for row in batch if subject.given(row) is not None]
        others = [row for row in batch if subject.given(row) is None]
        backward = [row for row in others if object_.given(row) is not None]
        free = [row for row in others if object_.given(row) is None]
        if forward:
            found = _walk_all(step.alternatives, _starts(forward, subject), frame, backwards=False)
            yield from in_batches(_joined(forward, subject, object_, found, walk))
        if backward:
            found = _walk_all(step.alternatives, _starts(backward, object_), frame, backwards=True)
            yield from in_batches(_joined(backward, object_, subject, found, walk))
        if free:
            starts = _every_start(step.alternatives, frame)
            found = _walk_all(step.alternatives, set(starts), frame, backwards=False)
            anchored = (bound for row in free for key in starts if (bound := subject.bind(row, key)) is not None)
            yield from in_batches(_joined(anchored, subject, object_, found, walk))


def _starts(rows: Batch, end: End) -> set[Node]:
    return {key for row in rows for key in end.given(row) or ()}


def _joined(rows: Iterable[Row], near: End, far: End, found: dict[Node, Reached], walk: int) -> Iterator[Row]:
    """Each row with every end reached from its own."""
    for row in rows:
        for start in sorted(near.given(row) or ()):
            for binding, propositions in found[start].values():
                extended = far.bind(row, binding)
                if extended is not None:
                    yield _with_walk(extended, walk, propositions)


def _with_walk(row: Row, place: int, propositions: tuple[str, ...]) -> Row:
    row = row.copy()
    row[place] = Walk(propositions)
    return row


def _walk_all(
    alternatives: Iterable[Alternative], starts: set[Node], frame: Frame, *, backwards: bool
) -> dict[Node, Reached]:
    """For each start every node that some alternative reaches."""
    reached: dict[Node, Reached] = {start: {} for start in starts}
    for alternative in alternatives:
        for start, nodes in _walk(alternative, starts, frame, backwards=backwards).items():
            for node, trace in nodes.items():
                reached[start].setdefault(node, trace)
    return reached


def _walk(alternative: Alternative, starts: set[Node], frame: Frame, *, backwards: bool) -> dict[Node, Reached]:
    """Hop by hop: up to the least number of hops every node of exactly that many, from there on each node once.

    raises  ResourceExhausted when nodes remain to be walked past the limit of hops
    """
    limit = frame.graph.run.limits.hops
    reached: dict[Node, Reached] = {start: {} for start in starts}
    layers: dict[Node, Reached] = {start: {start: (start, ())} for start in starts}
    hops = 0
    while True:
        if hops >= alternative.least:
            # Whatever a node reached before led to was, or will be, found from there.
            layers = {
                start: {node: trace for node, trace in layer.items() if node not in reached[start]}
                for start, layer in layers.items()
            }
            for start in layers if hops else _elements_among(starts, frame):
                reached[start].update(layers[start])
        if hops == alternative.most or not any(layers.values()):
            return reached
        left = (limit if alternative.most is None else alternative.most) - hops
        layers = _next_layers(alternative, layers, frame, backwards=backwards, left=left)
        hops += 1
        if hops > limit and any(node not in reached[start] for start, layer in layers.items() for node in layer):
            raise errors.ResourceExhausted(
                f"The path goes on after {limit} hops, the most that are walked.",
                hint="Give the path an upper bound of hops, or bind its other end closer.",
                details={"hops": limit},
            )


def _next_layers(
    alternative: Alternative, layers: dict[Node, Reached], frame: Frame, *, backwards: bool, left: int
) -> dict[Node, Reached]:
    """One hop from every node of every layer, `left` to go with it; starts whose walks end are left out."""
    onward: dict[Node, list[tuple[Node, Binding, str]]] = {}
    for proposition in _propositions(alternative, layers.values(), frame, backwards=backwards, left=left):
        subject, object_ = proposition.body["subject"], proposition.body["object"]
        near, far = (object_, subject) if backwards else (subject, object_)
        node, binding = frame.graph.canonical(object_key(far)), end_binding(far)
        trace = (node, node if isinstance(binding, str) else binding, proposition.id)
        onward.setdefault(frame.graph.canonical(object_key(near)), []).append(trace)
    following: dict[Node, Reached] = {}
    for start, layer in layers.items():
        next_layer: Reached = {}
        for node, (_, walked) in layer.items():
            for far_node, far_binding, proposition_id in onward.get(node, ()):
                next_layer.setdefault(far_node, (far_binding, (*walked, proposition_id)))
        if next_layer:
            following[start] = next_layer
    return following


def _propositions(
    alternative: Alternative, layers: Iterable[Reached], frame: Frame, *, backwards: bool, left: int
) -> Iterator[Element]:
    """The Propositions that lead on from any node of the layers."""
    nodes = sorted({node for layer in layers for node in layer})
    for start in range(0, len(nodes), BATCH):
        ends = stored(nodes[start : start + BATCH], frame)
        lineages = alternative.predicate.lineages
        query = TupleScan(objects=ends, predicates=lineages) if backwards else TupleScan(ends, lineages)
        yield from frame.graph.tuples(query, hops=left)


def _elements_among(nodes: set[Node], frame: Frame) -> list[Node]:
    """Those nodes that are elements: zero hops join an element with itself, so there has to be one."""
    ids = [node for node in nodes if is_element_id(node)]
    frame.graph.load(ids)
    return [node for node in ids if frame.graph.element(node) is not None]


def _every_start(alternatives: Iterable[Alternative], frame: Frame) -> list[Node]:
    """Where a path without a given end may start: the subjects of its predicates, and with zero hops every element
    that could be one."""
    found: dict[Node, None] = {}
    environment = frame.graph.run.environment
    for alternative in alternatives:
        for proposition in frame.graph.scan(Scan(Kind.PROPOSITION, lineages=alternative.predicate.lineages)):
            found[frame.graph.canonical(proposition.body["subject"]["id"])] = None
        if alternative.least == 0:
            definition = environment.describe("predicate", alternative.predicate.name)
            for kind in sorted(cast("PredicateType", definition).subject.kinds):
                found.update((element.id, None) for element in frame.graph.scan(Scan(kind)))
    return list(found)
