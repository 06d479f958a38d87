"""Aggregations that are formatted with their interval and are plain numbers otherwise."""

import copy
import json
import pickle
import tomllib
from pathlib import Path

import pytest

from harness_uq_lm_eval import aggregations as a

RIGHT = [1, 1, 0, 1, 0, 1, 1, 1, 0, 1] * 4


def test_wilson_mean_has_the_wilson_interval():
    found = a.wilson_mean(RIGHT)
    proportion_confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    expected = proportion_confint(28, 40, method="wilson")
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_the_value_equals_the_mean_exactly():
    assert a.beta_mean(RIGHT) == sum(RIGHT) / len(RIGHT)


def test_it_is_a_number_in_json_and_survives_copying():
    found = a.beta_mean(RIGHT)
    assert json.dumps({"acc,none": found}) == '{"acc,none": 0.7}'
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (again, again.interval, again.std_error) == (found, found.interval, found.std_error)


def test_a_format_shows_the_interval_and_none_shows_the_number():
    found = a.beta_mean(RIGHT)
    assert f"{found:.2f}" == f"0.70 [{found.interval.low:.2f}, {found.interval.high:.2f}]"
    assert f"{found}" == "0.7"


def test_clusters_come_through_process_results():
    def process(doc, results):
        return {"acc": float(results[0]), "f1": (1, 0)}

    tagged = a.with_cluster(process, "meta.passage")
    scores = [tagged({"meta": {"passage": i // 8}}, [i // 8 % 2])["acc"] for i in range(80)]
    assert {score.cluster for score in scores} == {str(i) for i in range(10)}
    assert tagged({"meta": {"passage": 1}}, [1])["f1"] == (1, 0)
    width = a.clustered_mean(scores).interval.width
    assert width > 1.8 * a.clustered_mean([float(score) for score in scores]).interval.width


def test_a_cluster_survives_copying():
    again = pickle.loads(pickle.dumps(a.ClusterScore(0.5, "p1")))
    assert (again, again.cluster) == (0.5, "p1")


def test_without_an_interval_the_value_is_returned_alone(caplog):
    found = a.beta_mean([0.25, 0.5])
    assert found == 0.375
    assert not hasattr(found, "interval")
    assert "No interval" in caplog.text


class TestStatistics:
    """Without an interval the values are still lm-eval's own."""

    def test_f1_and_mcc(self):
        metrics = pytest.importorskip("lm_eval.api.metrics")
        pairs = [(1, 1)] * 12 + [(0, 0)] * 15 + [(0, 1)] * 4 + [(1, 0)] * 3
        for ours, theirs in ((a.bayes_f1, metrics.f1_score), (a.bayes_mcc, metrics.matthews_corrcoef)):
            found = ours(pairs)
            assert found == theirs(pairs)
            assert found.interval.low < found < found.interval.high

    def test_perplexity_of_likelihoods_and_of_pairs(self):
        metrics = pytest.importorskip("lm_eval.api.metrics")
        single, pairs = [-1.0, -2.5, -0.5, -3.0], [(-4.0, 3), (-9.0, 5), (-2.0, 4)]
        assert a.bayes_perplexity(single) == metrics.perplexity(single)
        assert a.bayes_perplexity(pairs) == metrics.weighted_perplexity(pairs)
        assert a.bayes_perplexity(pairs).interval is not None

    @pytest.mark.filterwarnings("ignore")
    def test_aggregations_can_be_used_by_name(self):
        registry = pytest.importorskip("lm_eval.api.registry")
        from harness_uq_lm_eval import yaml_aggregations

        for name, function in yaml_aggregations.AGGREGATIONS.items():
            assert registry.get_aggregation(name) is function

    def test_entry_points_name_what_exists(self):
        from harness_uq_lm_eval import yaml_aggregations

        project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        declared = project["entry-points"]["lm_eval.aggregations"]
        assert declared == {
            name: f"{function.__module__}:{function.__name__}"
            for name, function in yaml_aggregations.AGGREGATIONS.items()
        }
