"""Runs of lighteval: a file that its classes wrote, and each trap of the format."""

import json
from pathlib import Path

import pytest

from harness_uq import TaskLog, compare, estimate
from harness_uq.data.task_log import AggregateScore
from harness_uq.data.trial_endings import ending_code
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.readers import read_logs
from harness_uq_formats import lighteval
from harness_uq_formats.reader import FORMATS
from tests.adapters.formats.files import ResourceReader
from tests.conftest import ROOT, originals
from tests.data.list_members import with_members
from tests.message_checks import has

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

READERS = {name: ResourceReader(name, module) for name, module in FORMATS.items()}
TIME = "2026-01-01T00-00-00.000001"
WRITTEN = json.loads((ROOT / "tests" / "data" / "members.json").read_text(encoding="utf-8"))["lighteval 0.13.1.dev0"]
(RESULTS,) = WRITTEN.values()


def row(number: int | None, query: str = "q", task: str = "toy|0", **metrics: object) -> dict[str, object]:
    identifier = None if number is None else str(number)
    doc = {"id": identifier, "query": query, "choices": ["a", "b"], "task_name": task}
    return {"doc": doc, "metric": metrics, "model_response": {"input_tokens": [1, 2], "output_tokens": [[1], [2, 3]]}}


def details(folder: Path, *rows: object, task: str = "toy|0", model: str = "org/one", time: str = TIME) -> Path:
    path = folder / "details" / model / time / f"details_{task}_{time}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def results(folder: Path, totals: dict[str, object], model: str = "org/one", **members: object) -> Path:
    path = folder / "results" / model / f"results_{TIME}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    general = {"lighteval_sha": "3fd1526", "model_name": model} | members.pop("config_general", {})
    own = {"config_general": general, "results": totals, "versions": dict.fromkeys(totals, 0)} | members
    path.write_text(json.dumps(with_members(own, RESULTS)))
    return path


def read(path: Path) -> tuple[TaskLog, ...]:
    reading = read_logs([str(path)], harnesses=READERS)
    assert reading.failures == ()
    return reading.logs


def values(log: TaskLog, metric: str) -> list[float]:
    (scores,) = [data for data in log.data if data.metric == metric]
    return scores.values[:, 0].tolist()


def test_details_of_a_real_writer_have_their_counts_and_means() -> None:
    """3 rows with em 1, 0, 1 and avg@2 0.5, 0, 0.5; questions 0 and 2 have the same text (read with pyarrow)."""
    (log,) = read(originals() / "data/formats/lighteval")
    assert (log.task, log.questions.ids, log.source.time) == ("toy|0", ("0", "1", "2"), "2026-01-01T00:00:00.000000")
    assert (values(log, "em"), values(log, "avg@2")) == ([1, 0, 1], [0.5, 0, 0.5])
    assert [data.levels for data in log.data] == [(0, 1), None]
    assert {data.metric: (data.logged_trials, data.reduction) for data in log.data} == {
        "em": (1, None),
        "avg@2": (2, "mean"),
    }
    assert log.questions.hashes[0] == log.questions.hashes[2] != log.questions.hashes[1]
    assert log.ended_by is None  # no metric extracted answers
    (usage,) = log.resources.usage
    assert (usage.input_tokens[:, 0].tolist(), usage.output_tokens[:, 0].tolist()) == ([3, 3, 3], [3, 3, 3])


def test_results_and_details_of_a_run_belong_together(tmp_path: Path) -> None:
    details(tmp_path, row(0, em=1), row(1, "r", em=0))
    details(tmp_path, row(0, task="other|5", em=1), task="other|5")
    totals = {"toy|0": {"em": 0.5, "em_stderr": 0.5}, "all": {"em": 0.75}, "mmlu:_average|5": {"em": 0.1}}
    metrics = [{"metric_name": "em", "higher_is_better": True}, {"metric_name": "ppl", "higher_is_better": False}]
    results(tmp_path, totals, config_tasks={"toy|0": {"metrics": metrics, "original_num_docs": 10}})
    other, toy = read(tmp_path)
    assert (toy.system, toy.task, other.system, other.task) == ("org/one", "toy|0", "org/one", "other|5")
    assert toy.reported["em", "none"].std_error == 0.5
    assert (toy.higher_is_better, toy.facts.n_all, toy.facts.is_limited) == ({"em": True, "ppl": False}, 10, True)
    assert not toy.messages


@pytest.mark.parametrize(
    ("n_samples", "expected"), [(1, {"completed": 1, "unparsed": 1, "unknown": 1}), (2, None), (None, None)]
)
def test_an_answer_without_extracted_predictions_is_unparsed(
    tmp_path: Path, n_samples: int | None, expected: dict[str, int] | None
) -> None:
    """If there are several samples, lighteval keeps what it extracted from the last one only."""
    rows = [row(at, f"q{at}", extractive_match=1) for at in range(3)]
    for one, extracted in zip(rows, (["4"], [], None), strict=True):
        specific = None if extracted is None else {"extracted_predictions": extracted, "extracted_golds": ["4"]}
        one["doc"] |= {"num_samples": n_samples, "specific": specific}
    details(tmp_path, *rows, row(1, "q1", loglikelihood_acc=0))
    (log,) = read(tmp_path)
    assert (None if log.ended_by is None else log.ended_by.counts()) == expected
    if expected is not None:
        assert log.ended_by.codes[:, 0].tolist() == [ending_code("completed"), ending_code("unparsed"), -1]


def test_models_pair_on_the_identifiers_of_questions_in_any_order(tmp_path: Path) -> None:
    for model, order in (("org/one", (0, 1, 2, 3)), ("org/two", (3, 1, 0, 2))):
        details(tmp_path, *(row(at, f"q{at}", em=at % 2) for at in order), model=model)
    (comparison,) = compare(tmp_path / "details/org/one", tmp_path / "details/org/two")
    assert (comparison.n_matched, comparison.difference.value) == (4, 0)


def test_a_task_with_generations_and_probabilities_has_two_rows_per_question(tmp_path: Path) -> None:
    rows = [row(at, f"q{at}", em=at, acc=None) for at in (0, 1)] + [row(at, f"q{at}", em=None, acc=1) for at in (1, 0)]
    (log,) = read(details(tmp_path, *rows))
    assert (log.questions.ids, values(log, "em"), values(log, "acc")) == (("0", "1"), [0, 1], [1, 1])


def test_contradictory_rows_of_one_question_are_named(tmp_path: Path) -> None:
    ((_, message),) = read_logs([str(details(tmp_path, row(0, em=1), row(0, em=0)))], harnesses=READERS).failures
    assert "'0'" in message.params["reason"]


def test_identifiers_that_start_again_in_each_split_are_told_apart(tmp_path: Path) -> None:
    (log,) = read(details(tmp_path, row(0, "test", em=1), row(0, "validation", em=0), row(1, "x", em=1)))
    assert len(set(log.questions.ids)) == 3
    assert log.questions.ids[2] == "1"
    assert values(log, "em") == [1, 0, 1]


def test_without_identifiers_questions_are_identified_by_their_text(tmp_path: Path) -> None:
    (log,) = read(details(tmp_path, row(None, "a", em=1), row(None, "b", em=0), row(None, "a", em=0)))
    assert values(log, "em") == [1, 0, 0]
    assert log.questions.ids[2] == f"{log.questions.ids[0]} #2"


def test_details_before_2025_are_flat(tmp_path: Path) -> None:
    rows = [{"example": f"q{at}", "full_prompt": "p", "gold": ["a"], "metrics": {"em": at}} for at in (0, 1)]
    (log,) = read(details(tmp_path, *rows, task="leaderboard|arc|25"))
    assert (log.task, values(log, "em")) == ("leaderboard|arc|25", [0, 1])


def test_columns_with_the_names_of_the_documentation_are_read(tmp_path: Path) -> None:
    renamed = {f"__{name}__": value for name, value in row(0, em=1).items()}
    (log,) = read(details(tmp_path, renamed))
    assert values(log, "em") == [1]


def test_aggregates_over_samples_are_other_quantities(tmp_path: Path) -> None:
    metrics = {"pass@k:k=2&n=8": 0.5, "avg@k:k=8": 0.25, "maj@4": 1.0, "pass@1": 0.5, "em": 1}
    (log,) = read(details(tmp_path, row(0, **metrics)))
    assert {data.metric: (data.event, data.logged_trials) for data in log.data} == {
        "pass@k:k=2&n=8": ("pass@2", 1),
        "avg@k:k=8": (None, 8),
        "maj@4": ("maj@4", 1),
        "pass@1": ("pass@1", 1),
        "em": (None, 1),
    }


def test_of_a_corpus_metric_the_total_counts(tmp_path: Path) -> None:
    details(tmp_path, row(0, bleu={"golds": ["a"], "preds": ["b"]}, ter=[1.0], em=1))
    results(tmp_path, {"toy|0": {"bleu": 31.5, "em": 1}})
    (log,) = read(tmp_path)
    total, em = sorted(log.data, key=lambda data: data.metric)
    assert isinstance(total, AggregateScore)
    assert (total.metric, total.value, total.n, em.metric) == ("bleu", 31.5, 1, "em")
    assert has(log, "metrics-without-scores", metrics=("ter",))


def test_a_task_without_details_has_totals(tmp_path: Path) -> None:
    config = {"suite|toy": {"effective_num_docs": 40, "original_num_docs": -1}}
    path = results(tmp_path, {"suite|toy|5": {"em": 0.5, "em_stderr": float("nan"), "acc": 0.25}}, config_tasks=config)
    (log,) = read(path)
    assert (log.system, log.task) == ("org/one", "suite|toy|5")
    assert [(data.metric, data.value, data.n, data.std_error) for data in log.data] == [
        ("em", 0.5, 40, None),
        ("acc", 0.25, 40, None),
    ]


def test_accuracy_has_the_same_interval_with_and_without_details(tmp_path: Path) -> None:
    config = {"toy|0": {"effective_num_docs": 4, "original_num_docs": 4}}
    for name in ("total", "details"):
        results(tmp_path / name, {"toy|0": {"em": 0.25, "em_stderr": 0.25, "f1": 0.25}}, config_tasks=config)
    details(tmp_path / "details", *(row(at, f"q{at}", em=int(at == 0)) for at in range(4)))
    (total, f1), (of_details,) = (estimate(tmp_path / name) for name in ("total", "details"))
    assert (total.method, f1.method, of_details.method) == ("totals", "not estimable", "beta")
    assert total.interval == of_details.interval


def test_a_total_that_differs_from_the_details_is_named(tmp_path: Path) -> None:
    details(tmp_path, row(0, em=1), row(1, "r", em=0))
    results(tmp_path, {"toy|0": {"em": 0.75}})
    (log,) = read(tmp_path)
    assert has(log, "tool-value-differs", metric="em", value=0.5, reported=0.75)


def test_files_of_lm_eval_and_lighteval_are_told_apart(tmp_path: Path) -> None:
    path = results(tmp_path, {"toy|0": {"em": 0.5}})
    other = tmp_path / f"results_{TIME}.json"
    other.write_text(json.dumps({"results": {"toy": {"acc,none": 0.5}}, "configs": {}}))
    assert [run.files for run in lighteval.find([str(path), str(other)]).runs] == [(str(path),)]
    reading = read_logs([str(path)], harnesses=load_plugins().harnesses)
    assert [log.source.harness for log in reading.logs] == ["lighteval"]
    assert (reading.failures, reading.warnings) == ((), ())


def test_generation_parameters_are_settings(tmp_path: Path) -> None:
    parameters = {"temperature": 0.6, "stop_tokens": None, "seed": 3}
    general = {"model_config": {"generation_parameters": parameters}}
    (log,) = read(results(tmp_path, {"toy|0": {"em": 0.5}}, config_general=general))
    assert log.facts.settings == {"temperature": 0.6, "seed": 3}


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "no metric"])
def test_damaged_details_are_named_and_other_runs_are_read(tmp_path: Path, damage: str) -> None:
    details(tmp_path, row(0, em=1))
    bad = details(tmp_path, row(0, em=1), model="org/two")
    if damage == "no metric":
        pq.write_table(pa.table({"doc": [1]}), bad)
    else:
        bad.write_bytes({"cut": bad.read_bytes()[:-100], "empty": b"", "text": b"no Parquet"}[damage])
    reading = read_logs([str(tmp_path)], harnesses=READERS)
    assert [log.system for log in reading.logs] == ["org/one"]
    assert [path for path, _ in reading.warnings] == [str(bad)]


def test_details_that_expand_to_much_more_than_the_file_are_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HARNESS_UQ_MAX_CELLS", "100")
    path = details(tmp_path, *(row(at, em=1) for at in range(101)))
    ((_, message),) = read_logs([str(path)], harnesses=READERS).failures
    assert has([message], "too-many-cells", n_rows=101)


def test_a_range_is_only_said_to_be_inferred_if_all_scores_are_equal(tmp_path: Path) -> None:
    (log,) = read(details(tmp_path, row(0, "a", f1=0.5, em=1), row(1, "b", f1=0.5, em=1)))
    assert [(data.metric, data.bounds_source) for data in log.data] == [("f1", "its name"), ("em", None)]
    (log,) = read(details(tmp_path, row(0, "a", f1=0.5), row(1, "b", f1=0.25)))
    assert (log.data[0].bounds, log.data[0].bounds_source) == ((0, 1), None)
