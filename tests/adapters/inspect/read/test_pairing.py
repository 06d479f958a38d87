"""Questions that were numbered after a shuffle are matched between runs by content, not by number."""

import numpy as np
import pytest

from harness_uq import compare
from tests.adapters.inspect.logs import header, read, sample, score_totals, write_eval

N = 40


def shuffled_log(path, seed, right):
    """Question k has the score `right[k]`; ids are numbered from 1 in shuffled order, as by Inspect."""
    order = np.random.default_rng(seed).permutation(N)
    samples = [
        sample(number + 1, input_=f"Question {k}?", match="C" if right[k] else "I") for number, k in enumerate(order)
    ]
    head = header(
        scores=[score_totals("match", float(np.mean(right)))],
        total=N,
        model=f"mockllm/{path.stem}",
        dataset={"name": "toy", "samples": N, "sample_ids": list(range(1, N + 1)), "shuffled": True},
    )
    return read(write_eval(path, head, samples))


@pytest.fixture
def logs(tmp_path):
    right = np.arange(N) % 2 == 0
    better = right | (np.arange(N) % 8 == 1)
    return shuffled_log(tmp_path / "a.eval", 1, better), shuffled_log(tmp_path / "b.eval", 2, right)


def test_equal_ids_are_different_questions_in_each_run(logs):
    assert logs[0].questions.ids == logs[1].questions.ids
    assert logs[0].questions.hashes != logs[1].questions.hashes
    assert set(logs[0].questions.hashes) == set(logs[1].questions.hashes)


def test_questions_are_paired_by_content(logs):
    (row, *_) = compare(*logs)
    assert row.n_matched == N
    assert (row.table.only_a, row.table.only_b) == (
        5,
        0,
    )  # only A is correct on 1, 9, 17, 25, 33
