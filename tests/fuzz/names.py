"""Mutants of names, the same for the same seed, in logs of every form that the readers know."""

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from tests.adapters.inspect import logs as inspect
from tests.adapters.lm_eval import logs as lm_eval
from tests.security.hostile_names import HOSTILE

UNITS = (
    *("a", "Z9", " ", "_", ".", "/", "\\", "|", "`", "*", "$", "<", ">", "&", "[", "](", "![", "~", "#", "##[", "::"),
    *("::a", "A: A: ", "=/", "=~", "(x.py, line 1) ", "; ", "`harness-uq ", "http://", "?k=", "@", '"', "'", "%", "{"),
    *("}", ",", "\n", "\r\n", "\t", "\x00", "\x1b[2J", "\x85", "\u2028", "\u202e", "\u2067", "\ud800", "\udc00"),
    *("\ufffe", "\U000e0041", "e\u0301", "\u200d", "\ufe0f", "\u4e2d", "\U0001f600", "\u0645", "\xa0", "\xad", "<!--"),
    *("-->", "]]>", "none", "mean"),
)
LONG = (300, 1000, 5000, 100_000)


@dataclass(frozen=True)
class Names:
    """The names in the logs of two systems."""

    task: str = "toy"
    first: str = "alpha"
    second: str = "beta"
    metric: str = "points"
    filter: str = "strict"
    field: str = "section"
    question: str = "q"


def mutant_names(seed: int) -> Names:
    """Names of which at least one is hostile."""
    rng = random.Random(seed)
    roles = [field.name for field in fields(Names)]
    changed = rng.sample(roles, rng.randint(1, len(roles)))
    names = Names(**{role: mutant_name(rng) for role in changed})
    return replace(names, second=f"{names.second}2") if names.first.strip() == names.second.strip() else names


def mutant_name(rng: random.Random) -> str:
    """A text of hostile parts, of characters of any kind, or of one part many times."""
    kind = rng.random()
    if kind < 0.15:
        return rng.choice(HOSTILE)
    if kind < 0.3:
        unit = "".join(rng.choices(UNITS, k=rng.choice((1, 1, 2))))
        return unit * (rng.choice(LONG[:3] if rng.random() < 0.9 else LONG) // len(unit))
    if kind < 0.4:
        return "".join(chr(rng.randrange(1, 0x110000)) for _ in range(rng.randint(1, 12)))
    parts = rng.choices((*HOSTILE, *UNITS), k=rng.randint(1, 6))
    return "".join(parts) or "a"


def write_csv(folder: Path, names: Names) -> None:
    """One CSV file of both systems."""
    out = io.StringIO()
    rows = _rows(names)
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    (folder / "scores.csv").write_bytes(out.getvalue().encode("utf-8", "replace"))


def write_json_lines(folder: Path, names: Names) -> None:
    """One JSON Lines file of both systems."""
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _rows(names)))


def write_parquet(folder: Path, names: Names) -> None:
    """One Parquet file of both systems."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    encodable = [
        {
            name.encode("utf-8", "replace").decode(): cell.encode("utf-8", "replace").decode()
            if isinstance(cell, str)
            else cell
            for name, cell in row.items()
        }
        for row in _rows(names)
    ]
    pq.write_table(pa.Table.from_pylist(encodable), folder / "scores.parquet")


def _rows(names: Names) -> list[dict[str, object]]:
    reserved = {"task", "model", "metric", "filter", "id", "score"}
    field = names.field if names.field.strip() and names.field.strip() not in reserved else "section"
    return [
        {
            "task": names.task,
            "model": model,
            "metric": names.metric,
            "filter": names.filter,
            "id": f"{names.question}{i}",
            "score": int((i + k) % 3 > 0),
            field: i // 3,
        }
        for k, model in enumerate((names.first, names.second))
        for i in range(12)
    ]


def write_lm_eval(folder: Path, names: Names) -> None:
    """A folder of lm-eval for each system; names of tasks with samples are parts of names of files."""
    key = f"{names.metric},{names.filter}"
    for k, model in enumerate((names.first, names.second)):
        log = lm_eval.Folder(folder / str(k))
        task = names.task if names.task == "toy" or k == 0 else "toy"
        if task == "toy":
            records = [
                lm_eval.row(
                    i,
                    doc={names.field or "q": i // 3},
                    filter_name=names.filter,
                    **{names.metric: float((i + k) % 3 > 0)},
                )
                for i in range(12)
            ]
            log.samples("toy", [json.dumps(record) for record in records])
        log.results({task: {key: 2 / 3, f"{names.metric}_stderr,{names.filter}": 0.1}}, n=12, model_name=model)


def write_inspect_eval(folder: Path, names: Names) -> None:
    """An `.eval` file for each system."""
    for k, (head, samples) in enumerate(_inspect_logs(names)):
        inspect.write_eval(folder / f"{k}.eval", head, samples)


def write_inspect_json(folder: Path, names: Names) -> None:
    """A JSON log of Inspect for each system."""
    for k, (head, samples) in enumerate(_inspect_logs(names)):
        inspect.write_json(folder / f"{k}.json", head, samples)


def _inspect_logs(names: Names) -> list[tuple[Mapping[str, object], list[dict[str, object]]]]:
    logs = []
    for k, model in enumerate((names.first, names.second)):
        samples = [inspect.sample(i, **{names.metric: "CI"[(i + k) % 3 == 0]}) for i in range(1, 13)]
        for i, one in enumerate(samples):
            one["metadata"] = {names.field: i // 3}
        totals = inspect.score_totals(names.metric, 2 / 3, n=12, stderr=0.1, metric_name=names.filter or "accuracy")
        logs.append((inspect.header(scores=[totals], total=12, task=names.task, model=model), samples))
    return logs


FORMS: Mapping[str, Callable[[Path, Names], None]] = {
    "csv": write_csv,
    "json lines": write_json_lines,
    "parquet": write_parquet,
    "lm-eval": write_lm_eval,
    "inspect eval": write_inspect_eval,
    "inspect json": write_inspect_json,
}
