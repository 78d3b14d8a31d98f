"""A plan as text: one line per step, inner blocks indented, in the order they run."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip import algebra as a
from brain.kip.matching import spelled
from brain.kip.resolve import shown
from brain.kip.schema import PredicateType

_WIDTH = "  "


def show_plan(plan: a.Step) -> str:
    """The plan, readable and stable: what golden files hold."""
    return "\n".join(_lines(plan, 0))


def _lines(step: a.Step, depth: int) -> Iterator[str]:
    pad = _WIDTH * depth
    match step:
        case a.Project(source=source, outputs=outputs):
            yield f"{pad}project {_list(outputs)}"
            yield from _lines(source, depth + 1)
        case a.Slice(source=source, limit=limit, after=after):
            if limit is not None or after is not None:
                yield f"{pad}slice" + _option("limit", limit) + (" behind cursor" if after is not None else "")
                depth += 1
            yield from _lines(source, depth)
        case a.Sort(source=source, keys=keys):
            if keys:
                yield f"{pad}sort " + ", ".join(f"{_expr(k.key)} {'desc' if k.descending else 'asc'}" for k in keys)
                depth += 1
            yield from _lines(source, depth)
        case a.Group(source=source, keys=grouping, aggregates=aggregates):
            yield f"{pad}group {_list((*grouping, *aggregates))}"
            yield from _lines(source, depth + 1)
        case a.Distinct(source=source, variables=names):
            yield f"{pad}distinct " + ", ".join(f"?{name}" for name in names)
            yield from _lines(source, depth + 1)
        case a.Block(steps=steps):
            for inner in steps:
                yield from _lines(inner, depth)
            if not steps:
                yield f"{pad}one empty row"
        case a.Optional(block=block) | a.Not(block=block) | a.Union(block=block):
            yield pad + type(step).__name__.lower()
            yield from _lines(block, depth + 1)
        case _:
            yield pad + _line(step)


def _line(step: a.Step) -> str:
    match step:
        case a.Scan():
            return _scan(step)
        case a.Tuple(proposition=name, subject=subject, predicate=predicate, object=object_):
            return f"tuple ?{name} ({_term(subject)}, {_predicate(predicate)}, {_term(object_)})"
        case a.Reach(subject=subject, alternatives=alternatives, object=object_):
            path = " | ".join(
                f"{x.predicate.name}{{{x.least},{'' if x.most is None else x.most}}}" for x in alternatives
            )
            return f"reach ({_term(subject)}, {path}, {_term(object_)})"
        case a.Structural(edge=name, source=source, text=text, fields=fields, target=target):
            planes = "" if len(fields) == 1 else f" in {len(fields)} fields"
            return f"structural ?{name} ({_term(source)}, {text}, {_term(target)}){planes}"
        case a.Search(variable=name, query=query):
            threshold = query.threshold or None
            return f"search ?{name} {query.kind} {shown(query.text)} mode={query.mode} limit={query.limit}" + _option(
                "threshold", threshold
            )
        case a.Belief(variable=name, target=target):
            return f"belief ?{name} ({_term(target)})"
        case a.BeliefTriple(variable=name, subject=subject, predicate=predicate, object=object_, grounded=grounded):
            candidates = "" if grounded else " candidates"
            return f"belief ?{name} ({_term(subject)}, {_predicate(predicate)}, {_term(object_)}){candidates}"
        case a.BeliefSlot(variable=name, subject=subject, predicate=predicate):
            return f"belief slot ?{name} ({_term(subject)}, {_predicate(predicate)})"
        case a.Filter(condition=condition):
            return f"filter {_expr(condition)}"
    raise TypeError(f"no step: {step!r}")


def _scan(step: a.Scan) -> str:
    conditions = step.conditions
    parts = [f"scan {conditions.kind} ?{step.variable}"]
    if step.ids is not None:
        parts.append(f"id={_set(step.ids)}")
    if conditions.lineages is not None:
        parts.append(f"type={_set(lineage.rsplit('/', 1)[-1] for lineage in conditions.lineages)}")
    for name in ("key", "name", "canonical_id"):
        value = getattr(conditions, name)
        if value is not None:
            parts.append(f"{name}={shown(value)}")
    if conditions.classes is not None:
        parts.append(f"class={_set(conditions.classes)}")
    if conditions.statuses is not None:
        parts.append(f"status={_set(conditions.statuses)}")
    parts += [f"{'.'.join(path)}={shown(value)}" for path, value in conditions.members]
    parts += [f"{spelled(match.path)}={_value(match.value)}" for match in step.matches]
    if conditions.states is None:
        parts.append("state=any")
    elif conditions.states != {"active"}:
        parts.append(f"state={_set(conditions.states)}")
    return " ".join(parts)


def _value(value: a.MatchValue) -> str:
    match value:
        case a.Constant(value=constant):
            return shown(constant)
        case a.MatchItems(items=items):
            return f"[{', '.join(_value(item) for item in items)}]"
        case a.MatchMembers(members=members):
            return "{" + ", ".join(f"{spelled(member.path)}: {_value(member.value)}" for member in members) + "}"
    return _term(value)


def _term(term: a.Term) -> str:
    return f"?{term.name}" if isinstance(term, a.Var) else _set(term.keys)


def _predicate(predicate: a.Predicate | PredicateType) -> str:
    if isinstance(predicate, PredicateType):
        return predicate.symbol.name
    return f"?{predicate.name}" if isinstance(predicate, a.Var) else predicate.name


def _set(items: Iterator[str] | frozenset[str]) -> str:
    return "|".join(sorted(items))


def _option(name: str, value: object) -> str:
    return "" if value is None else f" {name}={value}"


def _list(items: tuple[a.Access | a.Column | a.Aggregate, ...]) -> str:
    return ", ".join(_expr(item) for item in items)


def _expr(item: a.Expression | a.Aggregate) -> str:
    match item:
        case a.Constant(value=value):
            return shown(value)
        case a.Access(variable=name, steps=steps):
            return ".".join((f"?{name}", *(step if isinstance(step, str) else step.name for step in steps)))
        case a.Items(items=items):
            return f"[{', '.join(_expr(item) for item in items)}]"
        case a.Minus(operand=operand):
            return f"-{_expr(operand)}"
        case a.Negation(operand=operand):
            return f"!({_expr(operand)})"
        case a.Comparison(operator=operator, left=left, right=right):
            return f"{_expr(left)} {operator} {_expr(right)}"
        case a.Conjunction(operands=operands):
            return " && ".join(_bracketed(operand) for operand in operands)
        case a.Disjunction(operands=operands):
            return " || ".join(_bracketed(operand) for operand in operands)
        case a.Call(function=function, arguments=arguments):
            return f"{function}({', '.join(_expr(argument) for argument in arguments)})"
        case a.Column(index=index):
            return f"column {index}"
        case a.Aggregate(function=function, distinct=distinct, argument=argument):
            return f"{function}({'DISTINCT ' * distinct}{_expr(argument)})"
    raise TypeError(f"no expression: {item!r}")


def _bracketed(item: a.Expression) -> str:
    text = _expr(item)
    return f"({text})" if isinstance(item, (a.Conjunction, a.Disjunction)) else text
