"""Runs whose questions were numbered after a shuffle: matched by content, never by their number."""

import numpy as np
import pytest

from harness_uq import compare
from tests.adapters.inspect.logs import header, read, sample, score_totals, write_eval

N = 40


def shuffled_log(path, seed, right):
    """Question k is `right[k]`; ids count from 1 in shuffled order, as Inspect gives them."""
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


def test_ids_mean_other_questions_in_each_run(logs):
    assert logs[0].questions.ids == logs[1].questions.ids
    assert logs[0].questions.hashes != logs[1].questions.hashes
    assert set(logs[0].questions.hashes) == set(logs[1].questions.hashes)


def test_pairs_are_those_of_the_contents(logs):
    (row, *_) = compare(*logs)
    assert row.n_matched == N
    assert (row.table[1], row.table[2]) == (5, 0)  # 1, 9, 17, 25, 33: only A right; by number both would be well filled
