"""Write docs/reference/messages.md from the catalogues of messages: `python -m tests.message_page`."""

import re
from collections.abc import Iterator
from pathlib import Path

import harness_uq_formats.messages
import harness_uq_inspect.messages
import harness_uq_lm_eval.messages
from harness_uq.messages import CORE, MessageType
from harness_uq.messages.examples import example

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "messages.md"
_SPECIAL = re.compile(r"[*<]")
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

SEVERITIES = {"note": "Note", "warning": "Warning", "refusal": "No result", "error": "Error"}

_OPENING = """\
# Messages

harness_uq attaches messages to its results and prints messages in the terminal. For every message, this
page shows an example, explains its meaning and describes what you can do. Each message has a code such as `UQ104`, a
name such as `few-clusters`, and one of four severities:

| this page | in JSON | meaning |
| :-- | :-- | :-- |
| Note | `note` | The message states a fact about the result. You may ignore the message. |
| Warning | `warning` | The result may be wrong or imprecise. Act before you rely on the result. |
| No result | `refusal` | The data or the options do not allow the result, and the message states why. |
| Error | `error` | A file, an option or a program failed. |

```console
$ harness-uq estimate demo-output/lm-eval/scripted-large --task demo_passages --notes
…
Notes
- demo_passages: The interval accounts for the clusters of the questions (30 by passage_id;
heuristic: name of the field, 30 values). (UQ157)
```

A message that concerns several tasks is printed once, after the names of the tasks. If the numbers in a message such as
`UQ114` differ between tasks, ranges such as *20 to 50 questions* are printed. In JSON output, each task has its own
copy of the message, with the numbers of this task.

To hide a note or a warning, use its code or name with any command that analyzes logs, or in the
[settings file](settings.md):

```text
harness-uq estimate results/ --ignore UQ104 --ignore graded-by-model
```

```toml
[tool.harness_uq]
ignore = ["few-clusters", "UQ137"]
```

Ignored messages are not printed. JSON output keeps ignored messages and marks them with `"ignored": true`. Ignoring a
message does not change values, verdicts or exit codes. Messages with the severity `refusal` or `error` cannot be
ignored.

With `--format json` each message carries its `code`, `name`, `severity`, `text` and `params`
(see [JSON](json.md)). The [last section of this page](#parameters-in-json) lists the parameters of
each message.
"""

_PARAMETERS = """\
## Parameters in JSON

The member `params` of a message contains the numbers and names of its text:

| code | parameters |
| :-- | :-- |
"""


def page() -> str:
    """The page, of all catalogues that belong to this repository."""
    return "\n".join((_OPENING, *_sections(), _parameters()))


def _sections() -> Iterator[str]:
    for prefix, title in TOPICS.items():
        yield f"## {title}\n"
        yield from (_entry(kind) for kind in types() if kind.code.startswith(prefix))


def types() -> list[MessageType]:
    """The message types of all catalogues."""
    return [kind for catalogue in CATALOGUES for kind in catalogue.types]


def _entry(kind: MessageType) -> str:
    return (
        f'<a id="{kind.code}"></a>\n\n### {kind.code} {kind.name}\n\n*{SEVERITIES[kind.severity]}*, for example:\n\n'
        f"> {_markdown(example(kind).text)}\n\n{kind.meaning}\n\n**What to do:** {kind.action}\n"
    )


def _markdown(text: str) -> str:
    """The text with the characters escaped that Markdown would interpret, except code in backticks."""
    *pieces, last = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else _SPECIAL.sub(r"\\\g<0>", piece) for piece in (*pieces, last))


def _parameters() -> str:
    rows = (
        f"| {kind.code} | {', '.join(f'`{name}`' for name in sorted(kind.fields))} |" for kind in types() if kind.fields
    )
    return _PARAMETERS + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
