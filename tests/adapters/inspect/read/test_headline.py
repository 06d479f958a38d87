"""The headline is the score that `inspect_ai.log.headline_metric` names."""

import pytest

from tests.adapters.inspect.logs import header, read, sample, score_totals, write_eval

DECLARED = [
    {"scorer": "judge"},
    {"score": "judge"},
    {"metric": "f1"},
    {"scorer": "judge", "metric": "f1"},
    {"scorer": "absent"},
    {"scorer": "match", "metric": "f1"},
    {"reducer": "pass_at_2"},
    {"scorer": "judge", "reducer": "mean"},
]


def log_file(folder, **more):
    scores = [
        score_totals(name, 0.5, reducer=reducer, n=4, metric_name=metric)
        for name, metric in (("match", "accuracy"), ("judge", "f1"))
        for reducer in ("mean", "pass_at_2")
    ]
    samples = [sample(i, epoch, match="CI"[i % 2], judge="CI"[epoch % 2]) for epoch in (1, 2) for i in range(4)]
    head = header(scores=scores, total=8, epochs=2, reducer=["mean", "pass_at_2"], version=2, **more)
    return write_eval(folder / "log.eval", head, samples)


@pytest.mark.parametrize("how", ["results_headline", "headline_metric"])
@pytest.mark.parametrize("declared", DECLARED)
def test_the_headline_comes_first(tmp_path, inspect_log, how, declared):
    path = log_file(tmp_path, **{how: declared})
    found = inspect_log.headline_metric(inspect_log.read_eval_log(str(path), header_only=True))
    first = read(path).data[0]
    assert (first.metric, first.filter) == (found.score.name, found.score.reducer)


def test_without_a_headline_the_order_is_inspects(tmp_path):
    rows = [(data.metric, data.filter) for data in read(log_file(tmp_path)).data]
    assert rows == [(name, reducer) for name in ("match", "judge") for reducer in ("mean", "pass_at_2")]
