"""The workloads in the languages of the engines.

Each function returns what to run, or None where the language cannot say it. A `Statement` with a `differs` finds other
matches than the workload asks for, and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workloads import Pattern, Step, Workload


@dataclass(frozen=True)
class Statement:
    texts: tuple[str, ...]
    differs: str | None = None


def expanded(pattern: Pattern) -> tuple[Pattern, ...] | None:
    """A pattern with a step that is repeated two or three times as two patterns; None if there is no bound."""
    for i, step in enumerate(pattern.steps):
        if (step.least, step.most) != (1, 1):
            if step.most is None:
                return None
            return tuple(
                replace(
                    pattern,
                    steps=(
                        *pattern.steps[:i],
                        *(replace(step, name=f"{step.name}_{k}", least=1, most=1) for k in range(n)),
                        *pattern.steps[i + 1 :],
                    ),
                )
                for n in range(step.least, step.most + 1)
            )
    return (pattern,)


def each(workload: Workload, say: Callable[[Pattern, int], str], differs: str | None = None) -> Statement:
    return Statement(tuple(say(p, i) for i, p in enumerate(workload.patterns)), differs)


def each_expanded(
    workload: Workload, say: Callable[[Pattern, int], str], differs: str | None = None
) -> Statement | None:
    found = [expanded(p) for p in workload.patterns]
    patterns = [p for some in found if some is not None for p in some]
    if any(some is None for some in found):
        return None
    return Statement(tuple(say(p, i) for i, p in enumerate(patterns)), differs)


# CEQL


def _ceql_step(step: Step, name: str) -> str:
    braces = {(1, 1): "", (1, None): "+"}.get((step.least, step.most), f"{{{step.least},{step.most}}}")
    return f"{step.type}{braces} AS {name}"


def _ceql_conditions(step: Step, name: str) -> list[str]:
    found = []
    if step.stock:
        found.append(f"{name}[name = '{step.stock}']")
    if step.volume is not None:
        found.append(f"{name}[volume > {step.volume}]")
    if step.equal:
        column, other, its = step.equal
        found.append(f"{other}.{its} = {name}.{column}")
    return found


def _ceql_no(step: Step) -> str:
    conditions = _ceql_conditions(step, "n")
    return f"NO ({step.type} AS n FILTER {' AND '.join(conditions)})"


def _ceql(pattern: Pattern, *, count: bool, spark: bool) -> str:
    parts: list[str] = []
    conditions: list[str] = []
    for i, step in enumerate(pattern.steps):
        if step.absent:
            parts.append(_ceql_no(step) + (f" FOR {pattern.wait} [ts]" if pattern.wait else ""))
            continue
        if pattern.mode == "first" and i:
            parts.append(_ceql_no(step))
        parts.append(_ceql_step(step, step.name))
        conditions += _ceql_conditions(step, step.name)
    strategy = {"last": "LAST ", "max": "MAX "}.get(pattern.mode, "")
    # Under LIMIT 1 there is a match for each closing event, and these are counted.
    select = "COUNT(*)" if count and pattern.mode != "consume" else "*"
    text = f"SELECT {strategy}{select} FROM S WHERE {(' : ' if pattern.mode == 'strict' else ' ; ').join(parts)}"
    if conditions:
        text += f" FILTER {' AND '.join(conditions)}"
    # The rules of a set name their stock, so that the key changes nothing but who works on it.
    if pattern.key and (spark or pattern.key != "name"):
        text += f" PARTITION BY [{pattern.key}]"
    text += f" WITHIN {pattern.window} [ts]"
    if pattern.mode == "consume":
        text += " CONSUME BY ANY LIMIT 1"
    return text


def ceql(workload: Workload) -> Statement:
    return each(workload, lambda p, _: _ceql(p, count=False, spark=False))


def ceql_on_spark(workload: Workload) -> Statement:
    return each(workload, lambda p, _: _ceql(p, count=False, spark=True))


def ceql_on_a_stream(workload: Workload) -> Statement | None:
    """Events come in their order here and have no watermark, which alone tells a stream that a time has passed."""
    return None if workload.pattern.wait else ceql_on_spark(workload)


def reference(workload: Workload) -> Statement:
    return each(workload, lambda p, _: _ceql(p, count=True, spark=False))


# Esper. WITHIN includes its bound, and a guard of Esper ends at it: so one millisecond more.


def _epl_filter(step: Step, pattern: Pattern) -> str:
    conditions = [f"kind='{step.type}'"]
    if step.stock:
        conditions.append(f"name='{step.stock}'")
    if step.volume is not None:
        conditions.append(f"volume>{step.volume}")
    if step.equal:
        column, other, its = step.equal
        conditions.append(f"{column}={other}.{its}")
    first = pattern.steps[0]
    if pattern.key == "key" and step is not first:
        conditions.append(f"key={first.name}.key")
    return f"E({', '.join(conditions)})"


def _epl(pattern: Pattern, _: int) -> str:
    every = "" if pattern.mode in ("first", "consume") else "every "
    first, *rest = pattern.steps
    head = f"{first.name}={_epl_filter(first, pattern)}"
    if pattern.wait:
        end = f"(timer:interval({pattern.wait + 1} milliseconds) and not {_epl_filter(rest[0], pattern)})"
        return f"select * from pattern [every {head} -> {end}]"
    parts: list[str] = []
    forbidden = ""
    for step in rest:
        if step.absent:
            forbidden = f" and not {_epl_filter(step, pattern)}"
            continue
        part = f"{every}{step.name}={_epl_filter(step, pattern)}"
        parts.append(f"({part}{forbidden})" if forbidden else part)
        forbidden = ""
    tail = f"({' -> '.join(parts)}) where timer:within({pattern.window + 1} milliseconds)"
    if pattern.mode == "consume":
        return f"select * from pattern [every ({head} -> {tail})]"
    return f"select * from pattern [every {head} -> {tail}]"


def esper(workload: Workload) -> Statement | None:
    mode = workload.pattern.mode
    if mode in ("strict", "last", "max"):
        return None
    differs = None
    if mode == "consume":
        differs = "keeps the first event until its window is over, also if a later one could still be completed"
    return each_expanded(workload, _epl, differs)


# MATCH_RECOGNIZE: in Esper with all matches, in Flink with one match for each first row.


def _define(step: Step, pattern: Pattern, column: str) -> list[str]:
    """The conditions of a variable; `column` is how a column of it is written, with two places to fill."""
    conditions = [column.format(step.name, "kind") + f" = '{step.type}'"]
    if step.stock:
        conditions.append(column.format(step.name, "name") + f" = '{step.stock}'")
    if step.volume is not None:
        conditions.append(column.format(step.name, "volume") + f" > {step.volume}")
    if step.equal:
        own, other, its = step.equal
        conditions.append(f"{column.format(step.name, own)} = {column.format(other, its)}")
    return conditions


def _esper_rows(pattern: Pattern, _: int) -> str:
    first = pattern.steps[0].name
    bound = f"{{0}}.ts - {first}.ts <= {pattern.window}"
    taken: list[str] = []
    defined: list[str] = []
    between = ""
    forbidden: Step | None = None
    for i, step in enumerate(pattern.steps):
        if step.absent:
            forbidden = step
            continue
        conditions = _define(step, pattern, "{0}.{1}")
        if i:
            conditions.append(bound.format(step.name))
            if pattern.mode != "strict":
                skipped = f"X{i}"
                between = f"{skipped}* "
                what = [bound.format(skipped)]
                if forbidden:
                    what.append(f"not ({' and '.join(_define(replace(forbidden, name=skipped), pattern, '{0}.{1}'))})")
                    forbidden = None
                defined.append(f"{skipped} as {' and '.join(what)}")
        taken.append(between + (f"({step.name} Y{i}*)+" if step.most is None else step.name))
        if step.most is None:
            defined.append(f"Y{i} as {bound.format(f'Y{i}')}")
            between = ""
        defined.append(f"{step.name} as {' and '.join(conditions)}")
    key = "partition by key " if pattern.key == "key" else ""
    names = [s.name for s in pattern.steps if not s.absent and s.most is not None]
    measures = ", ".join(f"{n}.id as id_{n}" for n in names)
    return (
        f"select * from E match_recognize ({key}measures {measures} all matches after match skip to next row "
        f"pattern ({' '.join(taken)}) define {', '.join(defined)})"
    )


def esper_rows(workload: Workload) -> Statement | None:
    pattern = workload.pattern
    if pattern.mode not in ("all", "strict") or pattern.wait or len(workload.patterns) > 1:
        return None
    differs = (
        None if pattern.mode == "strict" else "returns some of the matches that begin with the same event, not all"
    )
    if any(s.most is None for s in pattern.steps):
        return each(workload, _esper_rows, differs)
    return each_expanded(workload, _esper_rows, differs)


def _first_rows(pattern: Pattern, column: str) -> tuple[str, str]:
    """PATTERN and DEFINE of the next event for each step: what is skipped before a step is not of the step."""
    taken: list[str] = []
    defined: list[str] = []
    for i, step in enumerate(pattern.steps):
        conditions = _define(step, pattern, column)
        if i and pattern.mode != "strict":
            skipped = replace(step, name=f"X{i}")
            taken.append(f"X{i}*")
            defined.append(f"X{i} AS NOT ({' AND '.join(_define(skipped, pattern, column))})")
        taken.append(step.name)
        defined.append(f"{step.name} AS {' AND '.join(conditions)}")
    return " ".join(taken), ", ".join(defined)


ONE_FOR_EACH_FIRST = "finds one match for each first event, and not all"


def flink_sql(workload: Workload) -> Statement | None:
    pattern = workload.pattern
    if pattern.mode not in ("all", "first", "consume", "strict") or pattern.wait:
        return None
    if any(s.absent or s.most != 1 for s in pattern.steps):
        return None

    def say(p: Pattern, _: int) -> str:
        taken, defined = _first_rows(p, "{0}.{1}")
        key = "PARTITION BY `key` " if p.key == "key" else ""
        skip = "PAST LAST ROW" if p.mode == "consume" else "TO NEXT ROW"
        window = f"{(p.window + 1) / 1000:.3f}"
        digits = len(window.split(".")[0])
        measures = ", ".join(f"{s.name}.id AS `i{s.name}`" for s in p.steps)
        return (
            f"SELECT * FROM E MATCH_RECOGNIZE ({key}ORDER BY `at` MEASURES {measures} ONE ROW PER MATCH "
            f"AFTER MATCH SKIP {skip} PATTERN ({taken}) WITHIN INTERVAL '{window}' SECOND({digits}, 3) "
            f"DEFINE {defined})"
        )

    differs = ONE_FOR_EACH_FIRST if pattern.mode == "all" else None
    if pattern.mode == "consume":
        differs = "an event that begins no match in its window is not tried together with later ones"
    return each(workload, say, differs)


# Flink CEP, whose patterns are Java: the lines that the runner turns into calls.


def _flink_cep(pattern: Pattern, _: int) -> str:
    then = {"strict": "next", "first": "followedBy", "consume": "followedBy"}.get(pattern.mode, "followedByAny")
    lines = [f"by {pattern.key}"] if pattern.key == "key" else []
    for i, step in enumerate(pattern.steps):
        words = ["begin" if i == 0 else "notFollowedBy" if step.absent else then, step.name, f"kind={step.type}"]
        if step.stock:
            words.append(f"name={step.stock}")
        if step.volume is not None:
            words.append(f"volume>{step.volume}")
        if step.equal:
            column, other, its = step.equal
            words.append(f"{column}={other}.{its}")
        if step.most is None:
            words += ["oneOrMore", "allowCombinations"]
        elif step.most > 1:
            words += [f"times({step.least},{step.most})", "allowCombinations"]
        lines.append(" ".join(words))
    lines.append(f"within {pattern.window + 1}")
    if pattern.mode == "consume":
        lines.append("skipPastLastEvent")
    return "\n".join(lines)


def flink_cep(workload: Workload) -> Statement | None:
    if workload.pattern.mode in ("last", "max"):
        return None
    # Flink ends the time with its source.
    differs = "also returns what still waits for an absent event when the events end" if workload.pattern.wait else None
    return each(workload, _flink_cep, differs)


# Siddhi


def _siddhi_filter(step: Step) -> str:
    conditions = [f"kind == '{step.type}'"]
    if step.stock:
        conditions.append(f"name == '{step.stock}'")
    if step.volume is not None:
        conditions.append(f"volume > {step.volume}")
    if step.equal:
        column, other, its = step.equal
        conditions.append(f"{column} == {other}.{its}")
    return f"E[{' and '.join(conditions)}]"


def _siddhi(pattern: Pattern, number: int) -> str:
    inner = "" if pattern.mode in ("first", "consume", "strict") else "every "
    parts: list[str] = []
    forbidden = ""
    for i, step in enumerate(pattern.steps):
        if step.absent:
            forbidden = f"not {_siddhi_filter(step)}"
            if pattern.wait:
                parts.append(f"{forbidden} for {pattern.wait + 1} milliseconds")
            else:
                forbidden += " and "
            continue
        braces = "<1:>" if step.most is None else ""
        part = f"{forbidden}{step.name}={_siddhi_filter(step)}{braces}"
        every = "every " if i == 0 and pattern.mode != "consume" else "" if forbidden or i == 0 or braces else inner
        parts.append(every + part)
        forbidden = ""
    joined = (", " if pattern.mode == "strict" else " -> ").join(parts)
    if pattern.mode == "consume":
        joined = f"every ({joined})"
    if not pattern.wait:
        joined += f" within {pattern.window + 1} milliseconds"
    shown = ", ".join(
        f"{s.name}{'[0]' if s.most is None else ''}.id as i{s.name}" for s in pattern.steps if not s.absent
    )
    text = f"from {joined} select {shown} insert into Found{number};"
    return f"partition with (key of E) begin {text} end;" if pattern.key == "key" else text


def siddhi(workload: Workload) -> Statement | None:
    pattern = workload.pattern
    if pattern.mode in ("last", "max"):
        return None
    if any(s.most is None for s in pattern.steps):
        return each(
            workload, _siddhi, "collects the events of an iteration into one match, and not every choice of them"
        )
    differs = None
    if pattern.mode == "all" and not pattern.wait:
        differs = "finds matches that are longer than the window too, if `every` stands inside a sequence"
    if pattern.mode == "consume":
        differs = "keeps the first event until its window is over, also if a later one could still be completed"
    return each_expanded(workload, _siddhi, differs)


# SQL: joins. The stretch of time that a match starts in is a key of the join, so that no engine compares all with all.


def _sql_where(step: Step) -> str:
    conditions = [f"type = '{step.type}'"]
    if step.stock:
        conditions.append(f"name = '{step.stock}'")
    if step.volume is not None:
        conditions.append(f"volume > {step.volume}")
    return " AND ".join(conditions)


def _sql_source(step: Step, pattern: Pattern, start: bool) -> str:
    key = f", {pattern.key}" if pattern.key == "key" else ""
    equal = "".join(f", {c}" for c in ("x", "y") if any(s.equal for s in pattern.steps))
    stretch = f"CAST(floor(ts / {pattern.window}) AS BIGINT)"
    one = f"SELECT id, ts{key}{equal}, {stretch} AS stretch FROM e WHERE {_sql_where(step)}"
    if start:
        return one
    return f"{one} UNION ALL SELECT id, ts{key}{equal}, {stretch} - 1 FROM e WHERE {_sql_where(step)}"


def _sql_on(step: Step, before: Step, pattern: Pattern) -> str:
    first = pattern.steps[0].name
    conditions = [f"{step.name}.stretch = {first}.stretch"]
    if pattern.key == "key":
        conditions.append(f"{step.name}.key = {first}.key")
    if step.equal:
        column, other, its = step.equal
        conditions.append(f"{step.name}.{column} = {other}.{its}")
    conditions += [f"{step.name}.id > {before.name}.id", f"{step.name}.ts <= {first}.ts + {pattern.window}"]
    return " AND ".join(conditions)


def _sql_join(pattern: Pattern, _: int) -> str:
    first = pattern.steps[0]
    sources = [f"{s.name} AS ({_sql_source(s, pattern, s is first)})" for s in pattern.steps]
    text = f"FROM {first.name}"
    present = [first]
    missing: list[str] = []
    for step in pattern.steps[1:]:
        if step.absent:
            until = "" if pattern.wait else f" AND {step.name}.id < {pattern.steps[-1].name}.id"
            missing.append(f"NOT EXISTS (SELECT 1 FROM {step.name} WHERE {_sql_on(step, present[-1], pattern)}{until})")
            continue
        text += f" JOIN {step.name} ON {_sql_on(step, present[-1], pattern)}"
        present.append(step)
    if pattern.wait:
        missing.append(f"{first.name}.ts + {pattern.wait} < (SELECT max(ts) FROM e)")
    if missing:
        text += f" WHERE {' AND '.join(missing)}"
    shown = ", ".join(f"{s.name}.id AS i{s.name}" for s in present)
    return f"WITH {', '.join(sources)} SELECT {shown} {text}"


def _sql_strict(pattern: Pattern, _: int) -> str:
    """Neighbours by `lead`; there is no key, so the whole stream is one window."""
    shown = [
        f"lead({column}, {i}) OVER w AS {column}{i}"
        for i in range(1, len(pattern.steps))
        for column in ("type", "id", "ts")
    ]
    first, *rest = pattern.steps
    conditions = [_sql_where(first)] + [f"type{i + 1} = '{s.type}'" for i, s in enumerate(rest)]
    conditions.append(f"ts{len(rest)} - ts <= {pattern.window}")
    return (
        f"SELECT id, {', '.join(f'id{i + 1}' for i in range(len(rest)))} FROM "
        f"(SELECT *, {', '.join(shown)} FROM e WINDOW w AS (ORDER BY id)) AS s WHERE {' AND '.join(conditions)}"
    )


def joins(workload: Workload) -> Statement | None:
    if workload.pattern.mode == "strict":
        return each(workload, _sql_strict)
    if workload.pattern.mode != "all":
        return None
    return each_expanded(workload, _sql_join)


def by_hand(workload: Workload) -> Statement:
    """Written in Python for this very pattern: only its window is told."""
    return Statement((str(workload.pattern.window),))
