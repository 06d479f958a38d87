"""Evaluate JMESPath expressions of a mapping: a part of the language that cannot multiply data."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from harness_uq.messages.errors import LogError, MissingDependencyError

_MOST_CHARACTERS = 500
_NODES = frozenset(
    {
        "and_expression",
        "comparator",
        "current",
        "field",
        "filter_projection",
        "flatten",
        "function_expression",
        "identity",
        "index",
        "index_expression",
        "literal",
        "not_expression",
        "or_expression",
        "pipe",
        "projection",
        "slice",
        "subexpression",
        "value_projection",
    }
)
_FUNCTIONS = frozenset(
    {"contains", "ends_with", "length", "not_null", "starts_with", "to_number", "to_string", "type", "values"}
)
_DOCUMENT = "$."


@lru_cache(maxsize=1000)
def compile_expression(expression: str) -> Any:
    """The parsed expression, without the prefix `$.` of expressions about the whole document. Raises LogError if the
    expression is not valid, is too long, or builds lists or objects.
    """
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError:
        raise MissingDependencyError("Mappings need jmespath: pip install 'harness-uq[tables]'") from None
    if len(expression) > _MOST_CHARACTERS:
        raise LogError(f"the expression {expression[:40]!r}… is longer than {_MOST_CHARACTERS} characters")
    try:
        parsed = jmespath.compile(expression.removeprefix(_DOCUMENT))
    except (JMESPathError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "too deeply nested"
        raise LogError(f"the expression {expression!r} is not valid JMESPath: {reason}") from None
    for node in _nodes(parsed.parsed):
        kind = node["type"]
        if kind not in _NODES or (kind == "function_expression" and node["value"] not in _FUNCTIONS):
            part = f"the function {node['value']}" if kind == "function_expression" else kind.replace("_", " ")
            raise LogError(f"the expression {expression!r} uses {part}, which mappings do not support")
    return parsed


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for child in node["children"]:
        if isinstance(child, dict) and "type" in child:
            yield from _nodes(child)


def evaluate_expression(expression: str, record: object, document: object) -> object:
    """The value of an expression in a record, or in the whole document if it begins with `$.`; None without a match.
    Raises LogError if the expression is not valid, or a function does not accept the value.
    """
    return _search(compile_expression(expression), document if expression.startswith(_DOCUMENT) else record, expression)


def named_values(expression: str, record: object, document: object) -> dict[str, object]:
    """The values of an expression for scores, by name, with the errors of `evaluate_expression`. Members that a
    wildcard `*` or an object contains have their own names; a single value has the name of the last field.
    """
    root = document if expression.startswith(_DOCUMENT) else record
    if (parts := _projection(expression)) is not None:
        left, right = parts
        members = _search(left, root, expression)
        if not isinstance(members, dict):
            return {}
        if right.parsed["type"] == "identity":
            return members
        return {name: _search(right, member, expression) for name, member in members.items()}
    value = _search(compile_expression(expression), root, expression)
    return value if isinstance(value, dict) else {last_field(expression): value}


@lru_cache(maxsize=1000)
def _projection(expression: str) -> tuple[Any, Any] | None:
    """The expressions before and after the wildcard `*` of an expression; None if it is no projection of an object."""
    parsed = compile_expression(expression)
    if parsed.parsed["type"] != "value_projection":
        return None
    left, right = (type(parsed)(expression, child) for child in parsed.parsed["children"])
    return left, right


@lru_cache(maxsize=1000)
def last_field(expression: str) -> str:
    """The name of the last field of an expression; the expression itself if it names none."""
    fields = [node["value"] for node in _nodes(compile_expression(expression).parsed) if node["type"] == "field"]
    return fields[-1] if fields else expression


def _search(parsed: Any, root: object, expression: str) -> object:
    tree = parsed.parsed
    if tree["type"] == "field":  # the most frequent expressions, without the interpreter
        return root.get(tree["value"]) if isinstance(root, dict) else None
    if tree["type"] == "subexpression" and all(child["type"] == "field" for child in tree["children"]):
        for child in tree["children"]:
            root = root.get(child["value"]) if isinstance(root, dict) else None
        return root
    from jmespath.exceptions import JMESPathError

    try:
        value: object = parsed.search(root)
    except (JMESPathError, RecursionError, TypeError) as error:
        reason = str(error).splitlines()[0][:200]
        raise LogError(f"the expression {expression!r} cannot be evaluated: {reason}") from None
    return value


def label_cell(value: object) -> object:
    """A value as a cell with a label: a hash of the content of an object or list, and other values as they are."""
    if not isinstance(value, dict | list):
        return value
    content = json.dumps(value, sort_keys=True, ensure_ascii=True).encode()
    return blake2b(content, digest_size=8).hexdigest()
