"""Live sessions with the real lm-eval; faults leave its own results intact."""

import copy
import json
import math
import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from types import SimpleNamespace

import pytest

import harness_uq
import harness_uq_lm_eval
from harness_uq.inference import marginals
from harness_uq_lm_eval import results_block
from harness_uq_lm_eval.harness import LmEvalHarness
from harness_uq_lm_eval.live import native_stderr, runtime
from harness_uq_lm_eval.read import in_memory_results

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs, live_tasks

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

# metrics that lm-eval bootstraps, which must not happen in a live session
BOOTSTRAPPED = {
    ("live_f1", "f1"),
    ("live_f1", "mcc"),
    ("live_nan", "safe"),
    ("live_nan", "typical"),
    *(("live_bleu", metric) for metric in live_tasks.CORPUS_METRICS),
    *((task, metric) for task in ("live_references", "live_copies") for metric in ("bleu", "chrf", "ter")),
}

# a function that the task defines, texts that are all perfect, and the middle value of unsorted scores
NOT_ESTIMABLE = (
    ("live_odd", "odd"),
    *(("live_copies", metric) for metric in ("bleu", "chrf", "ter")),
    *([("live_nan", "typical")] if version("lm-eval") < "0.4.12" else []),
)


def rows(results):
    return {
        (task, *key.split(",")): value
        for task, row in results["results"].items()
        for key, value in row.items()
        if "," in key
    }


def errors(results):
    return {key: value for key, value in rows(results).items() if key[1].endswith("_stderr")}


def values(results):
    return {key: value for key, value in rows(results).items() if not key[1].endswith("_stderr")}


class TestResults:
    def test_values_are_lm_evals_own(self, stock_results, live_results):
        assert values(live_results) == pytest.approx(values(stock_results), nan_ok=True)

    def test_all_other_parts_are_unchanged(self, stock_results, live_results):
        different = {
            "results",
            "groups",
            "samples",
            "uq",
            "date",
            "total_evaluation_time_seconds",
            "start_time",
            "end_time",
        }
        ours, theirs = live_runs.as_json(live_results), live_runs.as_json(stock_results)
        ours["config"]["bootstrap_iters"] = theirs["config"]["bootstrap_iters"]
        for key in theirs.keys() - different:
            assert (key, ours[key]) == (key, theirs[key])
        assert ours.keys() - different == theirs.keys() - different

    def test_one_entry_per_value_that_was_scored(self, live_results):
        scored = {key for key in values(live_results) if key != ("live_lengths", "8192", "none")}  # -1
        assert {key for key in live_runs.entries(live_results) if key[2] != "trials"} == scored

    def test_intervals_contain_the_values_and_rows_have_standard_errors(self, live_results):
        written, n = errors(live_results), 0
        for (task, metric, filter_name), entry in live_runs.entries(live_results).items():
            if entry["interval"] is not None and filter_name != "trials":
                assert entry["interval"]["low"] <= entry["value"] <= entry["interval"]["high"]
                assert written[task, f"{metric}_stderr", filter_name] == entry["std_error"] > 0
                n += 1
        assert n == len(live_runs.entries(live_results)) - len(NOT_ESTIMABLE) - 1  # the trials have no row
        refused = {key[:2] for key, entry in live_runs.entries(live_results).items() if entry["interval"] is None}
        assert refused == set(NOT_ESTIMABLE)

    def test_harness_errors_are_lm_evals_own_where_they_take_no_bootstrap(self, stock_results, live_results):
        theirs = errors(stock_results)
        for (task, metric, filter_name), entry in live_runs.entries(live_results).items():
            stock_error = theirs.get((task, f"{metric}_stderr", filter_name))
            if (task, metric) in BOOTSTRAPPED or stock_error in (None, "N/A"):
                assert entry["harness"]["std_error"] is None
            else:
                assert entry["harness"]["std_error"] == stock_error

    def test_a_standard_error_is_a_number_or_na(self, live_results):
        assert all(error == "N/A" or math.isfinite(error) for error in errors(live_results).values())

    def test_values_that_cannot_be_estimated_have_a_reason_and_na(self, live_results):
        entry = live_runs.entries(live_results)["live_odd", "odd", "none"]
        assert entry["status"] == "not_estimable"
        reasons = [message["params"] for message in entry["messages"] if message["severity"] == "refusal"]
        assert "for every resample" in str(reasons)  # the task's function
        assert errors(live_results)["live_odd", "odd_stderr", "none"] == "N/A"

    def test_a_task_at_one_hundred_percent_has_a_standard_error(self, stock_results, live_results):
        key = "live_perfect", "acc_stderr", "none"
        assert errors(stock_results)[key] == 0
        assert errors(live_results)[key] > 0.01

    @pytest.mark.parametrize("metric", live_tasks.CORPUS_METRICS)
    def test_texts_are_estimated_from_what_sacrebleu_counts_on_each(self, stock_results, live_results, metric):
        entry = live_runs.entries(live_results)["live_bleu", metric, "none"]
        assert entry["value"] == pytest.approx(stock_results["results"]["live_bleu"][f"{metric},none"], rel=1e-9)
        assert (entry["method"], entry["n_questions"], entry["n_clusters"]) == ("bayesian-bootstrap", 60, 20)
        assert entry["interval"]["low"] < entry["value"] < entry["interval"]["high"]
        assert 0 < entry["diagnostics"]["mc_error"] < 0.02 * entry["std_error"]

    def test_without_clusters_the_standard_error_of_texts_is_that_of_lm_evals_bootstrap(
        self, stock_results, live_folder, live_results
    ):
        settings = {"cluster": "none"}
        alone = live_runs.entries(live_runs.simple_evaluate(live_folder, ["live_bleu"], settings=settings))
        clustered = live_runs.entries(live_results)
        for metric in live_tasks.CORPUS_METRICS:
            key = "live_bleu", metric, "none"
            theirs = stock_results["results"]["live_bleu"][f"{metric}_stderr,none"]
            # 100 draws have a Monte Carlo error of 1 / sqrt(200) = 7 % of the standard error; three of them
            assert alone[key]["std_error"] == pytest.approx(theirs, rel=0.21)
            # all questions of a passage are correct, or all are wrong
            assert clustered[key]["std_error"] > 1.3 * alone[key]["std_error"]

    def test_texts_that_are_all_perfect_have_no_standard_error_rather_than_zero(self, stock_results, live_results):
        assert errors(stock_results)["live_copies", "chrf_stderr", "none"] == 0
        for metric in ("bleu", "chrf", "ter"):
            entry = live_runs.entries(live_results)["live_copies", metric, "none"]
            assert (entry["method"], entry["interval"]) == ("not estimable", None)
            assert entry["status"] == "not_estimable"
            assert [message for message in entry["messages"] if message["severity"] == "refusal"]
            assert errors(live_results)["live_copies", f"{metric}_stderr", "none"] == "N/A"

    def test_declared_passages_are_the_clusters(self, live_results):
        entry = live_runs.entries(live_results)["live_mc", "acc", "none"]
        assert (entry["cluster_key"], entry["n_clusters"]) == ("passage_id", 20)
        assert entry["std_error"] > entry["harness"]["std_error"]

    def test_translations_of_a_question_are_one_unit_of_their_group(self, live_results):
        entry = live_runs.entries(live_results)["live_group", "acc", "none"]
        assert (entry["n_questions"], entry["n_clusters"], entry["cluster_key"]) == (60, 20, "items across tasks")
        # the answers in all three languages are equal, so they have the information of one
        one = live_runs.entries(live_results)["live_group_a", "acc", "none"]
        assert entry["std_error"] == pytest.approx(one["std_error"], rel=0.15)
        assert entry["std_error"] > 1.4 * entry["harness"]["std_error"]

    def test_tasks_without_common_items_stay_independent(self, live_results):
        entry = live_runs.entries(live_results)["live_unweighted", "acc", "none"]
        assert (entry["n_questions"], entry["n_clusters"]) == (60, None)

    def test_answer_rows_count_by_question(self, live_results):
        assert live_runs.entries(live_results)["live_acc_all", "acc_all", "none"]["n_questions"] == 20

    def test_the_aggregation_prints_its_interval_and_logs_a_number(self, live_results):
        value = live_results["results"]["live_beta"]["acc,none"]
        assert f"{value:.4f}".count("[") == 1
        assert live_runs.as_json(live_results)["results"]["live_beta"]["acc,none"] == float(value)

    def test_the_bootstrap_is_never_run(self, live_folder, monkeypatch):
        from lm_eval.api import metrics

        monkeypatch.setattr(metrics, "bootstrap_stderr", lambda *_, **__: pytest.fail("lm-eval's bootstrap ran"))
        live_runs.simple_evaluate(live_folder, ["live_f1", "live_nan"])

    def test_the_bootstrap_can_be_kept(self, live_folder):
        settings = {"keep_bootstrap": True}
        results = live_runs.simple_evaluate(live_folder, ["live_f1"], settings=settings, bootstrap_iters=100)
        entry = live_runs.entries(results)["live_f1", "f1", "none"]
        assert entry["harness"]["std_error"] > 0
        assert "bootstrap_iters" not in results["uq"]

    def test_without_lm_evals_standard_errors_only_estimated_ones_are_written(self, live_folder):
        results = live_runs.simple_evaluate(live_folder, ["live_mc"], bootstrap_iters=0)
        entry = live_runs.entries(results)["live_mc", "acc", "none"]
        assert entry["harness"]["std_error"] is None
        assert entry["std_error"] > 0

    def test_samples_are_returned_only_if_requested(self, live_folder):
        assert "samples" not in live_runs.simple_evaluate(live_folder, ["live_mc"], log_samples=False)
        assert "samples" in live_runs.simple_evaluate(live_folder, ["live_mc"], log_samples=True)

    def test_level_scope_and_cluster_are_used(self, live_folder):
        settings = {"level": 0.8, "scope": "benchmark", "cluster": ["live_mc=none"]}
        results = live_runs.simple_evaluate(live_folder, ["live_mc"], settings=settings)
        entry = live_runs.entries(results)["live_mc", "acc", "none"]
        assert (results["uq"]["level"], results["uq"]["scope"]) == (0.8, "benchmark")
        assert (entry["interval"]["level"], entry["scope"], entry["n_clusters"]) == (0.8, "benchmark", None)

    def test_one_question_has_an_interval(self, live_folder):
        results = live_runs.simple_evaluate(live_folder, ["live_perfect", "live_gen"], limit=1)
        assert live_runs.entries(results)["live_perfect", "acc", "none"]["interval"]["low"] < 0.5

    def test_predict_only_is_passed_through(self, live_folder):
        results = live_runs.simple_evaluate(live_folder, ["live_mc", "live_gen"], predict_only=True)
        assert results["uq"]["estimates"] == []
        assert results["results"]["live_gen"]["bypass,first"] == 999

    def test_a_logged_run_can_be_compared_with(self, live_results, live_folder, tmp_path):
        live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
        settings = {"compare": str(tmp_path)}
        results = live_runs.simple_evaluate(live_folder, ["live_mc", "live_f1"], settings=settings)
        compared = {(row["task"], row["metric"]): row for row in results["uq"]["comparisons"]}
        same = compared["live_mc", "acc"]
        assert (same["system_a"], same["system_b"]) == ("HashLM", "hash")
        assert same["difference"]["value"] == 0
        assert same["difference"]["interval"]["low"] < 0 < same["difference"]["interval"]["high"]

    def test_a_run_of_evaluate_alone_can_be_compared_too(self, live_results, live_folder, tmp_path):
        from lm_eval import evaluator
        from lm_eval.tasks import TaskManager, get_task_dict

        live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
        manager = TaskManager(include_path=str(live_folder), include_defaults=False)
        tasks = manager.load(["live_mc"]) if hasattr(manager, "load") else get_task_dict(["live_mc"], manager)
        with harness_uq_lm_eval.uq("bayes", compare=str(tmp_path)) as session:
            results = evaluator.evaluate(lm=live_tasks.HashLM(), task_dict=tasks)
        assert [row["metric"] for row in results["uq"]["comparisons"]] == ["acc", "acc_norm"]
        assert [row.to_dict() for row in session.comparisons] == results["uq"]["comparisons"]
        assert {row["system_a"] for row in results["uq"]["comparisons"]} == {"HashLM"}

    def test_simple_evaluate_imported_before_names_the_system_after_the_model(self, live_folder):
        from lm_eval import simple_evaluate
        from lm_eval.tasks import TaskManager

        manager = TaskManager(include_path=str(live_folder), include_defaults=False)
        with harness_uq_lm_eval.uq("bayes"):
            results = simple_evaluate(model=live_tasks.HashLM(), tasks=["live_mc"], task_manager=manager)
        assert {entry["system"] for entry in results["uq"]["estimates"]} == {"HashLM"}

    @pytest.mark.parametrize(
        ("attributes", "name"),
        [
            ({"pretrained": "org/model", "_config": SimpleNamespace(_name_or_path="elsewhere")}, "org/model"),
            ({"pretrained": object(), "_config": SimpleNamespace(_name_or_path="org/loaded")}, "org/loaded"),
            ({"model": "gpt-4o"}, "gpt-4o"),
            ({"model": object(), "model_args": {"model": "/home/me/runs/7/last"}}, "7/last"),
            ({"lm": SimpleNamespace(model="cached")}, "cached"),
            ({}, "SimpleNamespace"),
        ],
    )
    def test_the_name_of_a_model_comes_from_its_attributes(self, attributes, name):
        assert runtime._system(runtime._origin(SimpleNamespace(**attributes))) == name

    def test_texts_are_compared_question_by_question(self, live_folder, tmp_path):
        live_runs.save(live_runs.simple_evaluate(live_folder, ["live_bleu"], log_samples=True), live_folder, tmp_path)
        other = live_tasks.HashLM()
        other.n_calls = 10_000  # different answers of the same quality
        results = live_runs.simple_evaluate(live_folder, ["live_bleu"], settings={"compare": str(tmp_path)}, lm=other)
        compared = {row["metric"]: row for row in results["uq"]["comparisons"]}
        assert set(compared) == set(live_tasks.CORPUS_METRICS)
        for metric, row in compared.items():
            assert (row["n_matched"], row["cluster_key"]) == (60, "passage_id")
            assert row["method"] == "bayesian-bootstrap"
            assert row["difference"]["value"] == pytest.approx(row["value_a"] - row["value_b"])
            assert row["difference"]["interval"]["low"] < 0 < row["difference"]["interval"]["high"]
            assert row["higher_is_better"] is (metric != "ter")

    def test_a_comparison_that_fails_leaves_the_estimates(self, live_folder, tmp_path):
        results = live_runs.simple_evaluate(live_folder, ["live_mc"], settings={"compare": str(tmp_path)})
        assert "comparisons" not in results["uq"]
        assert "estimates" in results["uq"]
        assert live_runs.entries(results)["live_mc", "acc", "none"]["interval"] is not None

    def test_a_missing_run_to_compare_with_is_an_error_before_the_run(self, tmp_path):
        with pytest.raises(harness_uq.HarnessUqError, match=r"Run to compare with not found: .*nothing"):
            harness_uq_lm_eval.uq("bayes", compare=str(tmp_path / "nothing"))

    def test_for_the_whole_benchmark_the_comparison_is_about_new_questions(self, live_results, live_folder, tmp_path):
        live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
        settings = {"scope": "full", "compare": str(tmp_path)}
        results = live_runs.simple_evaluate(live_folder, ["live_mc"], settings=settings, limit=30)
        assert {row["scope"] for row in results["uq"]["comparisons"]} == {"population"}
        assert {entry["scope"] for entry in results["uq"]["estimates"]} == {"full"}

    def test_the_context_restores_everything(self):
        from lm_eval import evaluator, utils
        from lm_eval.config import evaluate_config

        def parts():
            return evaluator.evaluate, evaluator.simple_evaluate, utils.make_table, evaluate_config.EvaluatorConfig

        before = parts()
        with bayes():
            assert all(now is not then for now, then in zip(parts(), before, strict=True))
        with pytest.raises(KeyboardInterrupt), bayes():
            raise KeyboardInterrupt
        assert parts() == before


def bayes():
    return harness_uq_lm_eval.uq("bayes")


class TestLoggedRuns:
    def test_live_and_logged_numbers_are_the_same(self, live_results, live_folder, tmp_path):
        live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
        logged = [row.to_dict() for row in harness_uq.estimate(tmp_path)]
        ours = live_runs.entries(live_results)
        assert len(logged) == len(ours)
        for row in logged:
            entry = ours[row["task"], row["metric"], row["filter"]]
            # a live run also states why nothing was resampled
            of_live_runs = {"messages"} if entry["status"] == "not_estimable" else set()
            for name in row.keys() - {"system", "source"} - of_live_runs:
                assert (name, entry[name]) == (name, row[name])
            codes = {message["code"] for message in row["messages"] if message["severity"] != "refusal"}
            assert codes <= {message["code"] for message in entry["messages"]}
            if "LM214" in (stated := [message["code"] for message in entry["messages"]]):
                assert not {"UQ178", "UQ179"} & set(stated)  # they advise what the live run has tried

    def test_the_file_is_found_and_its_harness_errors_are_lm_evals(self, live_results, live_folder, tmp_path):
        path = live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path)
        (run,) = LmEvalHarness().find([str(path)]).runs
        logs = {log.task: log for log in LmEvalHarness().read(run)}
        reported = logs["live_perfect"].reported["acc", "none"]
        assert (reported.value, reported.std_error) == (1.0, 0.0)


class TestRanks:
    """Two ranks in threads, which gather their results in a shared list."""

    @pytest.mark.skipif(
        version("lm-eval") < "0.4.12", reason="gathers through torch.distributed, which needs processes"
    )
    def test_rank_one_gets_none_and_rank_zero_every_question(self, live_folder, monkeypatch):
        import lm_eval.tasks  # noqa: F401 - before the stand-in for torch, which datasets would look into

        # the part that `evaluate` and datasets use
        kinds = {name: type(name, (), {}) for name in ("Tensor", "Generator")}
        module = SimpleNamespace(Module=type("Module", (), {}))
        torch = SimpleNamespace(
            tensor=lambda value, device=None: value, nn=module, __spec__=ModuleSpec("torch", None), **kinds
        )
        monkeypatch.setitem(sys.modules, "torch", torch)
        results = evaluate_on_two_ranks(live_folder, ["live_mc", "live_perfect"])
        assert results[1] is None
        entry = live_runs.entries(results[0])["live_mc", "acc", "none"]
        assert (entry["n_questions"], entry["n_clusters"]) == (60, 20)

    def test_samples_in_rank_order_give_the_same_numbers(self, live_results):
        shuffled = dict(live_results)
        shuffled["samples"] = {
            task: [*found[::2], *found[1::2]] if task != "live_gen" else found
            for task, found in live_results["samples"].items()
        }
        settings = runtime.LmEvalSettings("bayes")
        again, _ = runtime.estimate_each(in_memory_results.task_logs(shuffled), settings)
        ours = live_runs.entries(live_results)
        for row in again:
            key = row.task, row.metric, row.filter
            if ours[key]["interval"] is not None:
                assert row.interval.low == pytest.approx(ours[key]["interval"]["low"], abs=2e-3)
                assert row.n_questions == ours[key]["n_questions"]

    def test_none_is_passed_on(self):
        session = runtime.Session(runtime.RequestedSettings({"method": "bayes"}))
        wrapped = runtime.wrap_evaluate(lambda lm, task_dict, log_samples=True, bootstrap_iters=1: None, session)
        assert wrapped(None, {}) is None


def evaluate_on_two_ranks(folder, tasks):
    barrier, shelf = threading.Barrier(2, timeout=300), {}

    class RankedLM(live_tasks.HashLM):
        def __init__(self, rank):
            super().__init__()
            self._rank, self._world_size, self._device = rank, 2, "cpu"

        @property
        def device(self):
            return "cpu"

        def all_gather(self, tensor):
            counts = SimpleNamespace(tolist=lambda: [tensor, tensor])
            return SimpleNamespace(cpu=lambda: SimpleNamespace(detach=lambda: SimpleNamespace(numpy=lambda: counts)))

        def gather_object(self, obj, dst=0):
            barrier.wait()
            shelf[self._rank] = obj
            barrier.wait()
            gathered = [shelf[0], shelf[1]] if self._rank == dst else None
            barrier.wait()
            return gathered

        def barrier(self):
            barrier.wait()

    import lm_eval
    from lm_eval.tasks import TaskManager

    found = {}

    def work(rank):
        try:
            found[rank] = evaluated(rank)
        except Exception as error:
            barrier.abort()
            found[rank] = error

    def evaluated(rank):
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        return lm_eval.simple_evaluate(model=RankedLM(rank), tasks=tasks, task_manager=manager, torch_random_seed=None)

    with bayes():
        threads = [threading.Thread(target=work, args=(rank,)) for rank in (0, 1)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    return found


class TestFaults:
    """After an exception in any step of harness_uq, lm-eval's result is intact and the failure is reported."""

    STEPS = (
        (runtime.uq, "estimate"),
        (runtime, "estimate_each"),
        (runtime, "task_logs"),
        (runtime, "add_block"),
        (runtime, "name_system"),
        (native_stderr, "tasks_of"),
        (native_stderr, "closed_form_stderr"),
        (results_block, "_std_errors"),
        (in_memory_results, "_row"),
    )

    @pytest.mark.parametrize(("module", "name"), STEPS, ids=lambda part: getattr(part, "__name__", part))
    def test_the_result_is_lm_evals_own(self, live_folder, stock_results, monkeypatch, module, name):
        def fails(*args, **kwargs):
            raise RuntimeError("injected")

        monkeypatch.setattr(module, name, fails)
        results = live_runs.simple_evaluate(live_folder, log_samples=True)
        assert values(results) == pytest.approx(values(stock_results), nan_ok=True)
        json.dumps(results["uq"], allow_nan=False)
        if module is not native_stderr and name != "name_system":
            found, theirs = errors(results), errors(stock_results)
            assert found.keys() == theirs.keys()
            for key, error in theirs.items():
                is_bootstrapped = (key[0], key[1].removesuffix("_stderr")) in BOOTSTRAPPED
                assert (key, found[key]) == (key, "N/A" if is_bootstrapped else error)
            assert {entry["method"] for entry in results["uq"]["estimates"]} == {"failed"}
            assert all("injected" in entry["error"] for entry in results["uq"]["estimates"])

    def test_one_task_that_fails_leaves_the_others(self, live_folder, monkeypatch):
        original = marginals.clusters_of

        def fails_on_one(log, *rest):
            if log.task == "live_f1":
                raise RuntimeError("injected")
            return original(log, *rest)

        monkeypatch.setattr(marginals, "clusters_of", fails_on_one)
        found = live_runs.entries(live_runs.simple_evaluate(live_folder, ["live_f1", "live_mc"]))
        assert found["live_f1", "mcc", "none"]["method"] == "failed"
        assert found["live_mc", "acc", "none"]["interval"] is not None

    def test_a_failing_table_leaves_lm_evals_own(self, live_results, monkeypatch):
        from lm_eval.utils import make_table

        from harness_uq_lm_eval.live import results_table

        monkeypatch.setattr(results_table, "_join_cells", lambda *_: 1 / 0)
        first, second = copy.deepcopy(live_results), copy.deepcopy(live_results)  # lm-eval 0.4.11 changes them
        assert results_table.with_intervals(make_table)(first) == make_table(second)
