"""Write docs/reference/messages.md from the catalogues of messages: `python -m tests.message_page`."""

import string
from collections.abc import Iterator
from pathlib import Path

import harness_uq_formats.messages
import harness_uq_inspect.messages
import harness_uq_lm_eval.messages
from harness_uq.messages import CORE, MessageCatalogue, MessageType

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "messages.md"
CATALOGUES = (
    CORE,
    harness_uq_lm_eval.messages.CATALOGUE,
    harness_uq_inspect.messages.CATALOGUE,
    harness_uq_formats.messages.CATALOGUE,
)
TOPICS = {
    "UQ1": "Estimates",
    "UQ2": "Comparison, ranking and gating",
    "UQ3": "Reading logs and tables",
    "UQ4": "Clusters, trials and score types",
    "UQ5": "Plans, variance components, subsets and labels",
    "UQ6": "Stores and many logs",
    "UQ7": "Plugins",
    "UQ8": "Tokens, cost and time",
    "UQ9": "Command line, settings and internal errors",
    "LM": "lm-eval adapter",
    "IN": "Inspect AI adapter",
    "FM": "Adapter for files of other tools",
}

_OPENING = """\
# Messages

This page explains every message that harness_uq attaches to a result or prints. Each message has a code such as
`UQ104`, a name such as `few-clusters`, and one of four severities:

| severity | meaning |
| :-- | :-- |
| note | a fact about the result, which you may ignore |
| warning | something to act on before you rely on the result |
| refusal | the reason why there is no result |
| error | something failed |

Braces in a text stand for numbers and names of the result. With `--format json` each message carries its `code`,
`name`, `severity`, `text` and `params` ([format](json.md)).

To hide a note or a warning, use its code or name with any command that analyzes logs, or in the
[settings file](settings.md):

```text
harness-uq estimate results/ --ignore UQ104 --ignore graded-by-model
```

```toml
[tool.harness_uq]
ignore = ["few-clusters", "UQ137"]
```

Ignored messages are not printed. JSON output keeps them with `"ignored": true`. Values, verdicts and exit codes do not
change. Refusals and errors cannot be ignored.
"""


def page() -> str:
    """The page, of all catalogues that belong to this repository."""
    return "\n".join((_OPENING, *_sections()))


def _sections() -> Iterator[str]:
    for prefix, title in TOPICS.items():
        types = [kind for catalogue in CATALOGUES for kind in _with_prefix(catalogue, prefix)]
        yield f"## {title}\n"
        yield from (_entry(kind) for kind in types)


def _with_prefix(catalogue: MessageCatalogue, prefix: str) -> list[MessageType]:
    return [kind for kind in catalogue.types if kind.code.startswith(prefix)]


def _entry(kind: MessageType) -> str:
    return (
        f'<a id="{kind.code}"></a>\n\n### {kind.code} {kind.name}\n\n*{kind.severity.capitalize()}.* '
        f"{_text(kind.template)}\n\n{kind.meaning}\n\n**What to do:** {kind.action}\n"
    )


def _text(template: str) -> str:
    """The template in one line of code: names of parameters in braces, words in the plural."""
    return f"`{''.join(_pieces(template)).replace('`', '')}`"


def _pieces(template: str) -> Iterator[str]:
    for text, name, specification, _ in string.Formatter().parse(template):
        yield text
        kind, _, words = (specification or "").partition(" ")
        singular, _, plural = words.partition("|")
        if kind == "count":
            yield f"{{{name}}} {plural or f'{singular}s'}"
        elif kind == "plural":
            yield plural
        elif name:
            yield f"{{{name}}}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
