"""Write `harness_uq/options_typed.py`, the types of the keywords of each function, from the declarations of options."""

import ast
from collections.abc import Iterator
from pathlib import Path

from harness_uq import options

FUNCTIONS = dict.fromkeys(
    name
    for one in options.OPTIONS.values()
    for name in (one.commands if one.functions is None else one.functions).split()
)
_HEAD = '''"""Types of the keywords of each function; written by `tools/write_options_typed.py` from `options.py`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from harness_uq.data.estimands import Scope
    from harness_uq.data.missing_scores import MissingPolicy
    from harness_uq.options import CompareMethod, Correction, CredibleKind, MissingTasks, Normalization
'''


def annotations() -> dict[str, str]:
    """The type of each option, as it is written in its declaration."""
    tree = ast.parse(Path(options.__file__).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Options")
    texts = {}
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            is_text = isinstance(node.annotation, ast.Constant)
            text = str(node.annotation.value) if is_text else ast.unparse(node.annotation)  # type: ignore[attr-defined]
            texts[node.target.id] = text.removeprefix("InitVar[").removesuffix("]") if "InitVar" in text else text
    return texts


def module() -> str:
    """The text of the module; a function that has all keywords of another one inherits their types."""
    types = annotations()
    keywords = {function: dict(_types_of(function, types)) for function in FUNCTIONS}
    smallest_first = sorted(FUNCTIONS, key=lambda function: len(keywords[function]))
    classes = []
    for k, function in enumerate(smallest_first):
        own = keywords[function]
        inside = [one for one in smallest_first[:k] if keywords[one].items() <= own.items()]
        base = max(inside, key=lambda one: len(keywords[one]), default=None)
        lines = [f"\n\nclass {_name(function)}({_name(base) if base else 'TypedDict'}, total=False):"]
        lines.append(f'    """Keywords of `{function}`."""\n')
        inherited = keywords[base] if base else {}
        lines += [f'    {option}: "{text}"' for option, text in own.items() if option not in inherited]
        classes.append("\n".join(lines).rstrip() + "\n")
    return _HEAD + "".join(classes)


def _name(function: str) -> str:
    return "".join(part.capitalize() for part in function.split("_")) + "Keywords"


def _types_of(function: str, types: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, option in options.options_of_function(function).items():
        if name == "by" and function in ("estimate", "compare"):
            continue  # a parameter, which decides the type of the result
        if name == "range" and function.endswith("_scores"):
            yield name, "tuple[float, float] | None"
        else:
            yield name, "CompareMethod" if name == "method" and option.choices else types[name]


if __name__ == "__main__":
    Path(options.__file__).with_name("options_typed.py").write_text(module(), encoding="utf-8")
