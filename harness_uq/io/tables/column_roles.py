"""Which column of a table plays which part: named by the user, or found by its name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TypeAlias

from harness_uq.messages.catalogue.reading import COLUMN_NOT_FOUND, COLUMN_ROLE_UNFILLED
from harness_uq.messages.errors import LogError, unknown_name

Columns: TypeAlias = Mapping[str, str | Sequence[str]]

_NUMBERED = r"(_?(id|idx|index|no|number|key))?"
_PATTERNS = {
    "question": (
        rf"(question|q|item|problem|example|instance){_NUMBERED}",
        r"(sample|prompt|case)_?(id|idx|index|no|number|key)",
        r"id|idx|index",
    ),
    "score": (
        r"scores?",
        r"(is_)?(correct|right|resolved|passed|success|solved)",
        r"acc|accuracy|exact_match|em|grade|reward|value",
    ),
    "system": (r"system(_?(id|name))?", r"(model|agent|llm)(_?(id|name))?"),
    "task": (r"(task|benchmark|dataset|eval)(_?(id|name))?",),
    "metric": (r"metric(_?name)?|scorer",),
    "filter": (r"filter",),
    "trial": (rf"(trial|epoch|repeat|repetition|attempt|rollout){_NUMBERED}", r"seed|run"),
    "cluster": (r"cluster(_?(id|name))?",),
    "higher_is_better": (r"higher_is_better",),
    "ended_by": (r"ended_by",),
}
_RESOURCE_PATTERNS = {
    "cost": (r"(total_)?(cost|price)(_?(usd|dollars))?",),
    "input_tokens": (r"(input|prompt)_tokens?|tokens_(in|input)|n_(input|prompt)_tokens",),
    "output_tokens": (r"(output|completion)_tokens?|tokens_(out|output)|n_(output|completion)_tokens",),
    "reasoning_tokens": (r"(n_)?(reasoning|thinking)_tokens?",),
    "cached_tokens": (r"(n_)?(cached|cache_read)(_input)?_tokens?",),
    "total_time": (r"(total|wall|elapsed)_(time|seconds)|duration(_(s|seconds))?|seconds",),
    "working_time": (r"working_(time|seconds)",),
    "messages": (r"(n_|num_)?messages(_count)?|message_count",),
    "turns": (r"(n_|num_)?turns(_count)?|turn_count",),
}
RESOURCES = tuple(_RESOURCE_PATTERNS)
ROLES = (*_PATTERNS, *_RESOURCE_PATTERNS)
_NEEDED = ("question", "score")
_WIDE = ("system", "metric")
_LONGEST_ROLE = 100  # characters; with a wrong delimiter, the whole header is one name


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores; `system` and `metric` are those of all its scores, None if other columns contain them."""

    name: str
    system: str | None = None
    metric: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column plays which part."""

    scores: tuple[ScoreColumn, ...]  # one, or one for each system or metric
    parts: Mapping[str, str]  # name of the column by role, such as `question` and `task`
    stated: frozenset[str] = frozenset()  # roles that the user named a column for
    resources: Mapping[str, str] = field(default_factory=dict)  # name of the column by resource, such as `cost`

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))
        object.__setattr__(self, "resources", MappingProxyType(dict(self.resources)))

    @property
    def used(self) -> set[str]:
        """Columns with a part, but for the clusters' one."""
        return {name for role, name in self.parts.items() if role != "cluster"} | {
            column.name for column in self.scores
        }


def layout_of(names: Sequence[str], asked: Columns) -> Layout:
    """The part of each column of a table with these names.

    `asked` has the name of the column by role; of `system` or of `metric` also several, or a glob pattern that several
    match, each of which holds the scores of the system or metric of that name. Raises LogError if a role or a column
    does not exist, or there is no column of questions or of scores.
    """
    check_roles(asked)
    named = {role: _matching(role, wanted, names) for role, wanted in asked.items()}
    wide = [role for role in _WIDE if len(named.get(role, ())) > 1]
    _check_wide(named, wide)
    parts = {role: columns[0] for role, columns in named.items() if role not in wide}
    taken = {column for columns in named.values() for column in columns}
    resources = {role: parts.pop(role) for role in _RESOURCE_PATTERNS if role in parts}
    for role in _PATTERNS:
        if role not in named and not (role == "score" and wide):
            column = find_column(role, [name for name in names if name not in taken])
            parts |= {role: column} if column is not None else {}
            taken |= {column} if column is not None else set()
    if missing := [role for role in _NEEDED if role not in parts and not (role == "score" and wide)]:
        raise LogError(COLUMN_ROLE_UNFILLED(role=missing[0], known=_listed(names)))
    used = [*parts.values(), *resources.values(), *(column for role in wide for column in named[role])]
    _check_once(used, names)
    for role in _RESOURCE_PATTERNS.keys() - resources.keys():
        if (column := find_column(role, [name for name in names if name not in used])) is not None:
            resources[role] = column
    scores = _score_columns(parts.pop("score", ""), wide, named)
    return Layout(scores, parts, frozenset(asked), resources)


def check_roles(asked: Iterable[str]) -> None:
    """Raise LogError if columns are assigned to roles that do not exist."""
    if unknown := sorted(set(asked) - set(ROLES)):
        raise LogError(unknown_name("role of --column", unknown[0], ROLES, plural="roles"))


def _matching(role: str, wanted: str | Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Columns that are wanted, by name or pattern, in the table's order where a pattern matches several."""
    columns: dict[str, None] = {}
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        exact = [name for name in names if name == pattern]
        hits = exact[:1] or [name for name in names if fnmatchcase(name, pattern)]
        if not hits:
            raise LogError(COLUMN_NOT_FOUND(column=pattern, role=role, known=[name[:40] for name in names] or ["none"]))
        columns |= dict.fromkeys(hits)
    return tuple(columns)


def _check_wide(named: Mapping[str, Sequence[str]], wide: Sequence[str]) -> None:
    several = [role for role, columns in named.items() if len(columns) > 1 and role not in _WIDE]
    if several:
        raise LogError(f"one column is its {several[0]}; got {_listed(named[several[0]])}")
    if len(wide) > 1 or (wide and "score" in named):
        both = " and ".join(wide if len(wide) > 1 else (wide[0], "score"))
        raise LogError(f"columns of scores are named for one of {both}, not for both")


def _check_once(used: Sequence[str], names: Sequence[str]) -> None:
    if twice := sorted({name for name in used if list(names).count(name) > 1}):
        raise LogError(f"several columns are called {twice[0]!r}")
    if twice := sorted({name for name in used if list(used).count(name) > 1}):
        raise LogError(f"the column {twice[0]!r} is named for two parts")


def _score_columns(score: str, wide: Sequence[str], named: Mapping[str, Sequence[str]]) -> tuple[ScoreColumn, ...]:
    if not wide:
        return (ScoreColumn(score),)
    (role,) = wide
    return tuple(
        ScoreColumn(name, system=name) if role == "system" else ScoreColumn(name, metric=name) for name in named[role]
    )


def find_column(role: str, names: Sequence[str]) -> str | None:
    """The first column whose name says that it plays the role; `question_id` and the like come before `question`."""
    names = [name for name in names if len(name) <= _LONGEST_ROLE]
    for pattern in (_PATTERNS | _RESOURCE_PATTERNS)[role]:
        hits = [name for name in names if re.fullmatch(pattern, _plain(name))]
        if hits:
            return min(hits, key=lambda name: not re.search(r"(id|idx|index|no|number|key)$", _plain(name)))
    return None


def _plain(name: str) -> str:
    """The name in lower case, words joined by `_`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _listed(names: Sequence[str]) -> str:
    listed = [name[:40] for name in names[:20]]
    return ", ".join(listed) + (f" and {len(names) - 20} more" if len(names) > 20 else "") or "none"
