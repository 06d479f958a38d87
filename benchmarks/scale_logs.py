"""Many logs for bench_scale.py, made from the stand-ins of `tests/data/logs.zip` with scores drawn again.

Half are `.eval` files of 100 questions, half runs of lm-eval of two tasks of 20 questions and their group.
"""

import io
import json
import random
import shutil
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
A_FOLDER = 200


def make_logs(folder: Path, n: int) -> None:
    """`n` logs in folders of 200, half of each harness; those that are there stay."""
    if folder.exists() and len(list(folder.iterdir())) == n // A_FOLDER:
        return
    shutil.rmtree(folder, ignore_errors=True)
    templates = Templates()
    for i in range(n):
        target = folder / f"{i // A_FOLDER:03}"
        target.mkdir(parents=True, exist_ok=True)
        (templates.inspect if i % 2 else templates.lm_eval)(target, i)


class Templates:
    """Logs of the stand-ins, of which others are made."""

    def __init__(self) -> None:
        self._rng = random.Random(7)
        with zipfile.ZipFile(ROOT / "tests" / "data" / "logs.zip") as archive:
            names = archive.namelist()
            run = next(n for n in names if "negotiationtom" in n and "run_a" in n and "results_" in n)
            log = next(n for n in names if "popularity_100" in n and n.endswith(".eval"))
            self._results = json.loads(archive.read(run))
            self._rows = {
                task: [
                    json.loads(line)
                    for line in archive.read(
                        next(n for n in names if f"samples_{task}_" in n and "run_a" in n)
                    ).splitlines()
                ]
                for task in ("negotiationtom_belief", "negotiationtom_desire")
            }
            self._members = _members(archive.read(log))

    def inspect(self, folder: Path, i: int) -> None:
        """A log of 100 questions."""
        members = dict(self._members)
        header, summaries = json.loads(members["header.json"]), json.loads(members["summaries.json"])
        chance = self._rng.uniform(0.2, 0.9)
        right = [self._rng.random() < chance for _ in summaries]
        for summary, is_right in zip(summaries, right, strict=True):
            summary["scores"]["match"]["value"] = "C" if is_right else "I"
        header["eval"] |= {
            "model": f"maker/model-{i}",
            "created": f"2026-01-01T00:00:{i % 60:02}+00:00",
            "eval_id": f"e{i}",
        }
        value, n = sum(right) / len(right), len(right)
        metrics = header["results"]["scores"][0]["metrics"]
        metrics["accuracy"]["value"], metrics["stderr"]["value"] = value, (value * (1 - value) / (n - 1)) ** 0.5
        members |= {"header.json": json.dumps(header), "summaries.json": json.dumps(summaries)}
        with zipfile.ZipFile(folder / f"{i:06}.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    def lm_eval(self, folder: Path, i: int) -> None:
        """A run of two tasks of 20 questions in clusters, and of their group."""
        target, time_of = folder / f"model-{i}", f"2026-01-01T00-00-{i % 60:02}.{i:06}"
        target.mkdir()
        values = {}
        for task, rows in self._rows.items():
            chance = self._rng.uniform(0.2, 0.9)
            drawn = [row | {"acc": float(self._rng.random() < chance)} for row in rows]
            values[task] = sum(row["acc"] for row in drawn) / len(drawn)
            lines = "".join(json.dumps(row) + "\n" for row in drawn)
            (target / f"samples_{task}_{time_of}.jsonl").write_text(lines)
        (target / f"results_{time_of}.json").write_text(json.dumps(self._with(values, i)))

    def _with(self, values: dict[str, float], i: int) -> dict:
        group, results = "negotiationtom", self._results
        named = {task: results["results"][task] | {"acc,none": value} for task, value in values.items()}
        mean = {"acc,none": sum(values.values()) / len(values), "acc_stderr,none": 0.08, "alias": group, "name": group}
        return results | {
            "results": named | {group: mean},
            "groups": {group: mean},
            "group_subtasks": {group: list(values)},
            "configs": {task: results["configs"][task] for task in values},
            "n-samples": {task: results["n-samples"][task] for task in values},
            "model_name": f"maker/model-{i}",
        }


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in ("header.json", "summaries.json", "_journal/start.json")}


def inflate(path: Path, n: int) -> None:
    """Make a log of many more questions of it, which takes long to read."""
    members = _members(path.read_bytes())
    summaries = json.loads(members["summaries.json"])
    many = [summary | {"id": f"{k}-{i}"} for k in range(n // len(summaries)) for i, summary in enumerate(summaries)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in (members | {"summaries.json": json.dumps(many).encode()}).items():
            archive.writestr(name, part)


def largest(folders: object) -> Path:
    """The largest log."""
    return max((path for folder in folders for path in folder.iterdir()), key=size_of)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size
