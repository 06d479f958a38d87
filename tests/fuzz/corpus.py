"""Small logs of both harnesses, in every form that the readers know: what mutants are made of."""

import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from tests.adapters.inspect import logs as inspect
from tests.adapters.lm_eval import logs as lm_eval

OTHERS = Path(__file__).parents[1] / "data" / "logs.zip"
_LARGEST = 60_000
GRID = [["C", "I"], ["I", "I"], ["C", "C"], ["I", "C"], ["C", "C"]]


@dataclass(frozen=True)
class Original:
    """A run: the files of one folder.

    Attributes
    ----------
    files : content by name
    is_checkable : whether the log says its score twice, in its samples and in its results
    """

    name: str
    files: dict[str, bytes]
    is_checkable: bool = False

    @property
    def harness(self) -> str:
        return (
            "inspect"
            if any(name.endswith(".eval") or b'"eval"' in self.files[name] for name in self.files)
            else "lm-eval"
        )


def originals(folder: Path) -> list[Original]:
    """All of them; `folder` is empty and theirs."""
    return [*_of_inspect(folder / "inspect"), *_of_lm_eval(folder / "lm_eval"), *_of_others()]


def _of_inspect(folder: Path):
    folder.mkdir()
    samples = inspect.grid(GRID)
    for at, one in enumerate(samples):
        one["metadata"] = {"passage": f"p{at // 4}", "level": 1}
    totals = inspect.score_totals("match", 0.6, reducer="mean", n=5, stderr=0.2)
    head = inspect.header(scores=[totals], total=10, epochs=2)
    means = [{"sample_id": i + 1, "value": row.count("C") / 2} for i, row in enumerate(GRID)]
    reductions = [{"scorer": "match", "reducer": "mean", "samples": means}]
    for name, how in {
        "deflate": {"reductions": reductions},
        "zstandard": {"reductions": reductions, "compression": inspect.ZSTANDARD},
        "samples_only": {"with_summaries": False},
    }.items():
        path = inspect.write_eval(folder / f"{name}.eval", head, samples, **how)
        yield Original(name, {path.name: path.read_bytes()}, is_checkable=True)
    path = inspect.write_json(folder / "whole.json", head, samples, reductions=reductions)
    yield Original("json", {path.name: path.read_bytes()}, is_checkable=True)
    path = inspect.write_eval(folder / "unfinished.eval", head, samples, finished=False)
    yield Original("unfinished", {path.name: path.read_bytes()})
    path = inspect.write_eval(folder / "reduced.eval", head, [], reductions=reductions, with_samples=False)
    yield Original("reductions alone", {path.name: path.read_bytes()})
    parts = [one | {"scores": {"parts": {"value": {"tone": 0.5, "fact": at % 2}}}} for at, one in enumerate(samples)]
    parts[3]["error"] = {"message": "no answer", "traceback": ""}
    path = inspect.write_json(folder / "parts.json", head, parts)
    yield Original("dictionaries", {path.name: path.read_bytes()})


def _of_lm_eval(folder: Path):
    plain = lm_eval.Folder(folder / "plain")
    plain.samples("toy", lm_eval.rows("acc", [1.0, 0.0, 1.0, 1.0, 0.0] * 4))
    plain.results({"toy": {"acc,none": 0.6, "acc_stderr,none": 0.1124}}, n=20)
    yield Original("lm-eval", _files(plain.path), is_checkable=True)
    several = lm_eval.Folder(folder / "several")
    for task, values in (("one", [0.25, 0.5, 0.75]), ("two", [1.0, 0.0, 1.0])):
        several.samples(task, lm_eval.rows("score", values, doc={"passage": "p", "question": task}))
    several.results({"one": {"score,none": 0.5}, "two": {"score,none": 2 / 3}}, n=3)
    yield Original("lm-eval, two tasks", _files(several.path))
    alone = lm_eval.Folder(folder / "alone")
    alone.results({"toy": {"acc,none": 0.6, "acc_stderr,none": 0.1}}, n=24)
    yield Original("lm-eval, results alone", _files(alone.path))


def _of_others():
    """Stand-ins for logs of others, one file each, where the archive of them is there."""
    if not OTHERS.is_file():
        return
    with zipfile.ZipFile(BytesIO(OTHERS.read_bytes())) as archive:
        for info in archive.infolist():
            if info.filename.endswith((".eval", ".json")) and info.file_size <= _LARGEST:
                yield Original(info.filename, {Path(info.filename).name: archive.read(info)})


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
