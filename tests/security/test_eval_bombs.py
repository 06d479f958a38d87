"""Small `.eval` files that expand to gigabytes: the sum is limited, and nothing large is kept of a sample."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

from harness_uq import read_logs
from harness_uq_inspect.read.bounded_samples import MAX_TEXT, bound_sample
from harness_uq_inspect.read.schema import Sample, Score
from tests.adapters.inspect.logs import header, sample
from tests.security.limited import peak_memory, run_command

SIZE = 60_000_000


def write_bomb(path: Path, n_samples: int) -> Path:
    """A log with large metadata, inputs and targets; each sample is below the limit for one member."""
    text = "a" * (SIZE // 3)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", json.dumps(header(total=n_samples)))
        for i in range(n_samples):
            one = sample(i, match="C" if i % 3 else "I") | {"metadata": {"x": text}, "input": text, "target": text}
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(one))
    return path


def test_the_sum_over_the_members_is_limited(tmp_path: Path) -> None:
    path = write_bomb(tmp_path / "bomb.eval", 5)
    ((_, message),) = read_logs(path).failures
    assert message.code == "UQ335"
    assert message.params["n_expanded"] > 5 * SIZE
    assert message.params["variable"] == "HARNESS_UQ_MAX_EXPANSION"


def test_the_sum_over_summaries_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    content = json.dumps([sample(1, match="C") | {"metadata": {"x": "a" * SIZE}}])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("_journal/start.json", json.dumps(header()))
        for i in range(5):
            archive.writestr(f"_journal/summaries/{i}.json", content)
    ((_, message),) = read_logs(path).failures
    assert message.code == "UQ335"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process as Linux reports it")
def test_memory_holds_one_large_sample_at_a_time(tmp_path: Path) -> None:
    """Four samples, which used to be kept whole until the end of the log."""
    done = run_command("estimate", write_bomb(tmp_path / "log.eval", 4))
    assert done.returncode == 0, done.stderr
    assert peak_memory(done) < 300_000_000


def test_a_bounded_sample_keeps_what_structure_detection_needs() -> None:
    long = "x" * (MAX_TEXT + 1)
    first, second = (
        Sample(
            1,
            input=[{"role": "user", "content": [{"type": "text", "text": long}, {"type": "image", "image": long}]}],
            target=long,
            metadata={"passage": f"{long}{end}", "words": [long, end], "level": 2, "source": {"page": 3, "deep": {}}},
            scores={"match": Score("C")},
            error={"message": long},
        )
        for end in "ab"
    )
    for one in (first, second):
        bound_sample(one)
    assert first.metadata is not None
    assert second.metadata is not None
    assert len(json.dumps([first.input, first.target, first.metadata, first.error])) < 5 * MAX_TEXT
    assert first.metadata["level"] == 2
    assert first.metadata["source"] == {"page": 3}
    assert first.metadata["passage"] != second.metadata["passage"]
    assert first.metadata["words"] != second.metadata["words"]
    again = json.dumps([first.input, first.target, first.metadata])
    bound_sample(first)
    assert json.dumps([first.input, first.target, first.metadata]) == again
