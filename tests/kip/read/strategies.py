"""Small graphs, and queries over their words."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.kip.graph import Graph

NAMES = ("N1", "N2")
PREDICATES = ("knows", "lives_in", "speaks")
WORDS = ("en", "no")
ELEMENTS = ("a", "b", "c")


def chance(seed: int) -> Random:
    """Even chances, which Hypothesis's own draws do not give: most of its graphs are nearly empty."""
    return Random(seed)


@st.composite
def graphs(draw: DrawFn) -> Graph:
    """Concepts of two types in two states, tuples and claims among them, steps, merges."""
    at = chance(draw(st.integers(0, 2**32)))
    graph = Graph()
    concepts = []
    for _ in range(draw(st.integers(3, 7))):
        age = at.choice([None, 1, 2, 2.5])
        concept = graph.concept(
            at.choice(["Person", "Person", "Place"]),
            name=at.choice(NAMES),
            state=at.choice(["active"] * 5 + ["archived"]),
            attributes=None if age is None else {"age": age},
        )
        concepts.append(concept)
    propositions = []
    for _ in range(at.choice([0, 6, 10, 14])):
        subject, predicate = at.choice(concepts), at.choice(PREDICATES)
        value = at.choice(WORDS if predicate == "speaks" else concepts)
        if not graph.has_tuple(subject, predicate, value):
            state = at.choice(["active"] * 7 + ["archived"])
            propositions.append(graph.proposition(subject, predicate, value, state=state))
    for _ in range(at.choice([0, 3, 6]) if propositions else 0):
        graph.assertion(at.choice(propositions), at.choice(concepts), stance=at.choice(["support", "reject"]))
    for _ in range(at.choice([0, 3, 6])):
        graph.refer(at.choice(concepts), at.choice(["has_step", "involves"]), at.choice(concepts))
    for source, target in pairwise(concepts):
        if at.random() < 0.15:
            graph.merge(source, target)
    return graph


@dataclass
class Writer:
    """Writes one WHERE block; `bound` are names that expressions may use."""

    at: Random
    depth: int = 0
    bound: set[str] = field(default_factory=set)

    def pick(self, *options: Any) -> Any:
        return self.at.choice(options)

    def block(self, patterns: int, more: int) -> str:
        """A block of so many patterns and so many clauses behind them, in which every name that is read is bound."""
        first, self.bound = self.concept() if not self.bound else ("", self.bound)
        clauses = [first] if first else []
        clauses += [self.pattern() for _ in range(patterns)]
        clauses += [self.clause() for _ in range(more)]
        return " ".join(clauses)

    def clause(self) -> str:
        kind = self.pick("pattern", "filter", "OPTIONAL", "OPTIONAL", "NOT", "UNION")
        if kind == "pattern" or (self.depth == 2 and kind.isupper()):
            return self.pattern()
        if kind == "filter":
            return f"FILTER({self.condition(2)})"
        inner = Writer(self.at, self.depth + 1, set() if kind == "UNION" else set(self.bound))
        text = f"{kind} {{ {inner.block(self.pick(0, 1), self.pick(0, 1, 1))} }}"
        if kind != "NOT":
            self.bound |= inner.bound
        return text

    # --- patterns -----------------------------------------------------------------------------------------------------

    def pattern(self) -> str:
        text, names = self.pick(
            self.concept, self.concept, self.triple, self.triple, self.claim, self.step, self.path
        )()
        self.bound |= names
        return str(text)

    def concept(self) -> tuple[str, set[str]]:
        name = self.pick(*ELEMENTS)
        names = {name}
        members = []
        if self.pick(True, False):
            members.append(f'type: "{self.pick("Person", "Person", "Place")}"')
        if self.pick(True, False, False):
            members.append(f'name: "{self.pick(*NAMES)}"')
        state = self.pick(None, None, None, None, "?s", "?s", '"merged"', '"archived"')
        if state is not None:
            members.append(f"state: {state}")
            names |= {"s"} if state == "?s" else set()
        age = self.pick(None, None, None, "2", "?v")
        if age is not None:
            members.append(f"attributes: {{age: {age}}}")
            names |= {"v"} if age == "?v" else set()
        return f"?{name} {{{', '.join(members)}}}", names

    def triple(self) -> tuple[str, set[str]]:
        names: set[str] = set()
        predicate = self.pick(*(f'"{p}"' for p in PREDICATES), "?r", '"knows" | "lives_in"')
        subject, object_ = self.end(names), self.end(names, literal='"speaks"' in predicate)
        link = self.pick("", "", "?p ")
        names |= {"p"} if link else set()
        names |= {"r"} if predicate == "?r" else set()
        return f"{link}({subject}, {predicate}, {object_})", names

    def end(self, names: set[str], *, literal: bool = False) -> str:
        choice = self.pick("variable", "variable", "variable", "id", "inline", "literal" if literal else "variable")
        if choice == "variable":
            name = self.pick(*ELEMENTS, "v") if literal else self.pick(*ELEMENTS)
            names.add(name)
            return f"?{name}"
        if choice == "id":
            return f'"C-{self.pick(1, 2, 3)}"'
        if choice == "literal":
            return f'"{self.pick(*WORDS)}"'
        return f'{{name: "{self.pick(*NAMES)}"}}'

    def claim(self) -> tuple[str, set[str]]:
        names = {"x"}
        members = []
        if self.pick(True, False):
            members.append("proposition: ?p")
            names.add("p")
        actor = self.pick(None, '"C-1"', "?a", "?b")
        if actor is not None:
            members.append(f"asserted_by: {actor}")
            names |= {actor[1:]} if actor.startswith("?") else set()
        if self.pick(True, False):
            members.append(f'stance: "{self.pick("support", "reject")}"')
        return f"?x ASSERTION {{{', '.join(members)}}}", names

    def step(self) -> tuple[str, set[str]]:
        names: set[str] = set()
        source, target = self.end(names), self.end(names)
        link = self.pick("", "?e ")
        names |= {"e"} if link else set()
        return f'{link}STRUCTURAL ({source}, "{self.pick("has_step", "involves")}", {target})', names

    def path(self) -> tuple[str, set[str]]:
        start, end = self.pick(*ELEMENTS), self.pick(*ELEMENTS)
        hops = self.pick("{0}", "{1}", "{2}", "{0,2}", "{1,}", "{0,}", "{3}")
        more = self.pick("", ' | "lives_in"', ' | "lives_in"{2}')
        if self.pick(True, False):
            return f'?{start} {{}} (?{start}, "knows"{hops}{more}, ?{end})', {start, end}
        return f'?{end} {{}} (?{start}, "knows"{hops}{more}, ?{end})', {start, end}

    # --- conditions ---------------------------------------------------------------------------------------------------

    def condition(self, depth: int) -> str:
        if depth and self.pick(True, False):
            kind = self.pick("!", "&&", "||")
            if kind == "!":
                return f"!({self.condition(depth - 1)})"
            return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
        name = self.pick(*sorted(self.bound))
        return str(
            self.pick(
                f'?{name}.name == "{self.pick(*NAMES)}"',
                f"?{name}.attributes.age > {self.pick(1, 2)}",
                f"?{name}.id != ?{self.pick(*sorted(self.bound))}.id",
                f"IS_NULL(?{name})",
                f'?{name}.id < "C-3"',
                f'IN(?{name}.id, ["C-1", "C-3", "P-2", "P-9"])',
                f'?{name}.id == "C-2"',
                f"?{name}.attributes.age != 7",
                f"!IS_NULL(?{name})",
            )
        )


@st.composite
def blocks(draw: DrawFn) -> tuple[str, list[str]]:
    """A WHERE block and the names it binds."""
    writer = Writer(chance(draw(st.integers(0, 2**32))))
    text = writer.block(draw(st.integers(0, 2)), draw(st.integers(0, 3)))
    return text, sorted(writer.bound)
