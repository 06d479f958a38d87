"""Registered metrics: they never raise, return finite numbers, and agree with the reader."""

import math
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import harness_uq_inspect
from harness_uq import DataError, Options, estimate
from harness_uq.data.structure import StructureOptions
from harness_uq_inspect.read.samples import read_log
from tests.adapters.inspect.environment import environment, run_with_uq

pytestmark = pytest.mark.harness

ROOT = Path(__file__).parents[4]
CASES = {
    "nothing": [],
    "one": [("a", "C", {})],
    "all right": [(str(i), "C", {}) for i in range(20)],
    "nan": [("a", math.nan, None), ("b", 1.0, None)],
    "infinite": [("a", math.inf, None), ("b", 1.0, None)],
    "categories": [(str(i), "ABCD"[i % 4], {}) for i in range(8)],
    "lists": [("a", [1, 0], {}), ("b", [1, 1], {})],
    "dicts": [(str(i), {"tone": i / 8, "fact": "C", "label": "x"}, {}) for i in range(8)],
    "nested dicts": [("a", {"x": {"y": 1}}, {})],
    "mixed": [("a", {"x": 1}, {}), ("b", 0.5, None), ("c", None, {}), ("d", "text", {})],
    "some without the cluster": [(str(i), "CI"[i % 2], {"passage": i // 2} if i % 3 else {}) for i in range(60)],
    "unhashable metadata": [(str(i), "CI"[i % 2], {"x": [{"y": i}], "z": object()}) for i in range(9)],
    "no id": [(None, "C", {}), (None, "I", {})],
}


@pytest.fixture(scope="module")
def sample_scores(inspect_scorer):
    def make(rows):
        return [
            inspect_scorer.SampleScore(
                score=inspect_scorer.Score.model_construct(value=value), sample_id=id_, sample_metadata=meta, scorer="m"
            )
            for id_, value, meta in rows
        ]

    return make


def metrics():
    from harness_uq_inspect import bayes_at_n, pass_k, uq

    return {
        "uq": uq(),
        "uq wilson": uq(method="wilson"),
        "uq clustered": uq(cluster="passage"),
        "uq absent": uq(cluster="nowhere"),
        "uq wrong": uq(method="nonsense"),
        "bayes_at_n": bayes_at_n(),
        "pass_k": pass_k(2),
    }


@pytest.mark.parametrize("case", CASES)
def test_it_never_raises_and_returns_finite_numbers_by_name(case, sample_scores):
    for metric in metrics().values():
        found = metric(sample_scores(CASES[case]))
        assert isinstance(found, dict)
        assert all(isinstance(name, str) and type(x) is float and math.isfinite(x) for name, x in found.items())


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("uq", {"level": 7.0}, "level"),
        ("uq", {"scope": "nonsense"}, "scope must be population or benchmark"),
        ("bayes_at_n", {"level": 0}, "level"),
        ("pass_k", {"k": 0}, "1 or more"),
        ("pass_k", {"k": -1}, "pass@-1"),
        ("pass_k", {"kind": "foo"}, "kind must be at or hat; got 'foo'"),
    ],
)
def test_invalid_arguments_are_rejected_when_the_task_is_created(inspect_scorer, name, options, said):
    with pytest.raises(DataError, match=said):
        getattr(harness_uq_inspect, name)(**options)


def test_available_statistics_are_reported(sample_scores):
    found = {name: metric(sample_scores(CASES["all right"])) for name, metric in metrics().items()}
    assert found["uq"]["uq_lower"] == pytest.approx(0.05 ** (1 / 21))  # HDI of Beta(21, 1)
    assert found["uq"]["uq_mean"] == found["uq"]["uq_upper"] == 1.0
    assert set(metrics()["uq"](sample_scores(CASES["dicts"]))) == {
        *(f"fact_uq_{name}" for name in ("mean", "lower", "upper", "sd")),
        *(f"tone_uq_{name}" for name in ("mean", "lower", "upper", "sd")),
    }
    assert found["uq wrong"] == {}
    assert metrics()["uq"](sample_scores(CASES["categories"])) == {}


def test_a_metric_in_a_run_agrees_exactly_with_the_log(tmp_path, inspect_log):
    """Cluster by field name, by declaration, and epochs; the metric sees no file."""
    code = """
import sys
from inspect_ai import eval
from inspect_ai.scorer import Score, accuracy, scorer, stderr
from live_tasks import is_right, make, number
from harness_uq_inspect import bayes_at_n, pass_k, uq

@scorer(metrics=[accuracy(), stderr(), uq(), uq(scope="benchmark"), bayes_at_n(), pass_k(2)])
def right():
    async def score(state, target):
        return Score(value="C" if is_right(number(state), state.epoch) else "I")
    return score

@scorer(metrics={"a": [accuracy(), uq(cluster="passage")]})
def keyed():
    async def score(state, target):
        return Score(value={"a": float(is_right(number(state), state.epoch))})
    return score

eval([make(right(), epochs=4, name="auto"), make(keyed(), epochs=4, name="keyed")], model="mockllm/model",
     log_dir="logs", display="none", log_level="error")
"""
    run_with_uq(sys.executable, "-c", code, cwd=tmp_path, HARNESS_UQ=None)
    logs = {read_log(str(p)).header.eval.task: p for p in (tmp_path / "logs").glob("*.eval")}
    metrics_of = {
        name: {
            key: metric.value
            for score in read_log(str(path)).header.results.scores
            for key, metric in score.metrics.items()
        }
        for name, path in logs.items()
    }
    auto, (row, *_) = metrics_of["auto"], estimate(logs["auto"])
    assert (row.method, row.cluster_key) == ("nested", "passage")
    expected = {"mean": row.value, "lower": row.interval.low, "upper": row.interval.high, "sd": row.std_error}
    # two processes may differ in the last digits of a root
    assert {name: auto[f"uq_{name}"] for name in expected} == pytest.approx(expected, rel=1e-12)
    keyed, (row, *_) = metrics_of["keyed"], estimate(logs["keyed"])
    (prefix,) = {key.removesuffix("_uq_sd") for key in keyed if key.endswith("_uq_sd")}
    assert keyed[f"{prefix}_uq_lower"] == pytest.approx(row.interval.low, rel=1e-12)
    (row, *_) = estimate(
        logs["auto"], Options(method="bayes-at-n", scope="benchmark", structure=StructureOptions("none"))
    )
    assert auto["bayes_at_n_sd"] == row.std_error
    assert auto["bayes_at_n_mean"] == row.posterior_mean
    assert auto["bayes_at_n_lower"] < auto["bayes_at_n_mean"] < auto["bayes_at_n_upper"]
    (row, *_) = estimate(logs["auto"], Options(estimand="pass@2", structure=StructureOptions("none")))
    assert auto["pass_at_2_upper"] == row.interval.high
    (row, *_) = estimate(logs["auto"])
    assert row.harness.value == pytest.approx(row.value)  # ours are not taken for Inspect's own


def test_the_order_of_trials_does_not_matter(sample_scores):
    rows = [(str(i), "CI"[(i * e) % 3 == 0], {"level": i % 2}) for e in range(1, 5) for i in range(30)]
    mixed = rows.copy()
    random.Random(5).shuffle(mixed)
    one, other = (metrics()["uq"](sample_scores(r)) for r in (rows, mixed))
    assert one == pytest.approx(other, rel=1e-9)


def test_repeated_scores_come_from_the_cache(sample_scores, monkeypatch):
    from harness_uq_inspect import uq
    from harness_uq_inspect.live import compute_metric

    scores = sample_scores([(str(i), "CI"[i % 3 == 0], {}) for i in range(31)])
    first = uq()(scores)
    monkeypatch.setattr(compute_metric.uq, "estimate", None)
    assert uq()(scores) == first
    assert uq()(sample_scores([("new", "C", {})])) == {}


def test_importing_the_entry_point_loads_a_few_light_modules_and_registers_no_hook(tmp_path, inspect_log):
    code = """
import inspect_ai.hooks, inspect_ai.scorer, sys
had = set(sys.modules)
import harness_uq_inspect._registry
print(*(set(sys.modules) - had))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    new = {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}
    # numpy and scipy would take most of a second of every start of Inspect
    # the catalogues of messages are plain data, and grow with the messages
    small = ("pluggy", "lazy_loader", "harness_uq.messages")
    assert {name for name in new if not name.startswith(small)} == {
        "harness_uq",
        "harness_uq.data",
        "harness_uq.data.estimands",
        "harness_uq.io",
        "harness_uq.io.plugins",
        "harness_uq.io.plugins.hookspecs",
        "harness_uq.io.plugins.protocols",
        "harness_uq.plugin_api",
        "harness_uq_inspect",
        "harness_uq_inspect._registry",
        "harness_uq_inspect.live",
        "harness_uq_inspect.live.metrics",
        "harness_uq_inspect.live.environment",
    }


def test_names_in_the_registry_of_an_installed_wheel_carry_the_package(tmp_path, inspect_log):
    """An editable install shows bare names; a wheel's are those that logs refer to."""
    site = tmp_path / "venv" / f"lib/python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    rest = next(Path(p) for p in sys.path if (Path(p) / "inspect_ai").is_dir())
    code = f"""
import sys
sys.path.append({str(rest)!r})
import harness_uq_inspect
assert harness_uq_inspect.__file__.startswith({str(site)!r})
from importlib.metadata import entry_points
(entry,) = [e for e in entry_points(group='inspect_ai') if e.name == 'harness_uq_inspect'][:1]
entry.load()
from inspect_ai._util.registry import registry_info
print(*(registry_info(getattr(harness_uq_inspect, name)).name for name in ('uq', 'bayes_at_n', 'pass_k')))
"""
    command = [tmp_path / "venv" / "bin" / "python", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment(PYTHONPATH=None), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [f"harness_uq_inspect/{name}" for name in ("uq", "bayes_at_n", "pass_k")]
