"""Every function that takes paths gives the same numbers for the objects that the harnesses return."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import harness_uq
from harness_uq.commands.main import main
from harness_uq.io.readers import read_logs, sort_runs
from harness_uq.messages.errors import LogError
from tests.adapters.inspect import logs as inspect_logs
from tests.adapters.lm_eval import logs as lm_eval_logs
from tests.data.toy import task_log
from tests.message_checks import params_of

N_QUESTIONS, N_TRIALS = 30, 3
SYSTEMS = ("large", "again", "small")  # `again` is a second run of the model `large`
TASK_OF_TABLE = "toy"


@dataclass(frozen=True)
class Runs:
    """The same three runs as objects and as files, in the same order: two of one model, one of another."""

    objects: Mapping[str, object]
    files: Mapping[str, str]


def scores(system: str) -> np.ndarray:
    rng = np.random.default_rng(SYSTEMS.index(system))
    return rng.binomial(1, 0.5 if system == "small" else 0.7, (N_QUESTIONS, N_TRIALS))


def inspect_runs(folder: Path) -> Runs:
    inspect_log = pytest.importorskip("inspect_ai.log")
    files = {}
    for number, system in enumerate(SYSTEMS):
        model = "small" if system == "small" else "large"
        totals = [inspect_logs.score_totals("match", float(scores(system).mean()), n=N_QUESTIONS)]
        head = inspect_logs.header(
            scores=totals,
            total=N_QUESTIONS * N_TRIALS,
            epochs=N_TRIALS,
            model=f"mockllm/{model}",
            task_args={"seed": number},
            task_id=f"task {system}",
            task_version=0,
        )
        values = [["CI"[1 - right] for right in question] for question in scores(system).tolist()]
        path = inspect_logs.write_eval(folder / f"{number}-{system}.eval", head, inspect_logs.grid(values))
        files[system] = str(path)
    return Runs({system: inspect_log.read_eval_log(path) for system, path in files.items()}, files)


def lm_eval_runs(folder: Path) -> Runs:
    objects, files = {}, {}
    for number, system in enumerate(SYSTEMS):
        rows = lm_eval_logs.rows("acc", scores(system)[:, 0].tolist())
        place = lm_eval_logs.Folder(folder / f"{number}-{system}")
        place.samples("toy", rows)
        config = {"model": "hf", "model_args": {"pretrained": "small" if system == "small" else "large"}, "limit": None}
        results = place.results(
            {"toy": {"acc,none": float(scores(system)[:, 0].mean())}},
            n=N_QUESTIONS,
            configs={"toy": {"metadata": {"prompt": number}}},
            config=config,
            date=1.75e9 + number,
        )
        files[system] = str(place.path)
        objects[system] = json.loads(Path(results).read_text()) | {"samples": {"toy": rows}}
    return Runs(objects, files)


def task_logs(folder: Path) -> Runs:
    files = inspect_runs(folder).files
    return Runs({system: list(read_logs(path).logs) for system, path in files.items()}, files)


def frames(folder: Path, library: str) -> Runs:
    """Data frames; both runs of the model `large` have their setting in the name of the system."""
    objects, files = {}, {}
    for number, system in enumerate(SYSTEMS):
        name = "small" if system == "small" else f"large (seed={number})"
        table = [
            {"question": question, "trial": trial, "acc": int(score), "model": name, "task": TASK_OF_TABLE}
            for question, of_question in enumerate(scores(system))
            for trial, score in enumerate(of_question)
        ]
        files[system] = str(folder / f"{number}-{system}.csv")
        with Path(files[system]).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)
        columns = {name: [row[name] for row in table] for name in table[0]}
        module = pytest.importorskip(library)
        objects[system] = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    return Runs(objects, files)


SOURCES: dict[str, Callable[[Path], Runs]] = {
    "EvalLog": inspect_runs,
    "simple_evaluate": lm_eval_runs,
    "TaskLog": task_logs,
    **{library: lambda folder, library=library: frames(folder, library) for library in ("pandas", "polars", "pyarrow")},
}
FUNCTIONS: dict[str, Callable[[Mapping[str, object]], object]] = {
    "estimate": lambda runs: harness_uq.estimate(runs["large"]),
    "compare": lambda runs: harness_uq.compare(runs["large"], runs["small"]),
    "rank": lambda runs: harness_uq.rank([runs["large"], runs["small"]]),
    "gate": lambda runs: [harness_uq.gate(runs["small"], runs["large"], harness_uq.Options(margin=0.05))],
    "effects": lambda runs: harness_uq.effects([runs["large"], runs["again"]]),
    "plan": lambda runs: harness_uq.plan(runs["large"], harness_uq.Options(width=0.1)),
    "report": lambda runs: harness_uq.report([runs["large"], runs["small"]]).comparisons,
}


@pytest.fixture(scope="module")
def runs_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Runs]:
    made: dict[str, Runs] = {}

    def runs(source: str) -> Runs:
        if source not in made:
            made[source] = SOURCES[source](tmp_path_factory.mktemp(source))
        return made[source]

    return runs


def numbers(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """All numbers and verdicts of a result in JSON form; where it was read from is left out."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name not in ("messages", "path", "time", "version", "warnings", "notes", "source"):
                yield from numbers(item, f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from numbers(item, f"{path}[{index}]")
    else:
        yield path, value


def assert_equal_results(found: object, expected: object) -> None:
    pairs = [dict(numbers([row.to_dict() for row in rows])) for rows in (found, expected)]
    assert pairs[0].keys() == pairs[1].keys()
    assert any(isinstance(value, float) for value in pairs[1].values())
    for name, value in pairs[1].items():
        assert pairs[0][name] == (pytest.approx(value, abs=1e-12) if isinstance(value, float) else value), name


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_objects_give_the_numbers_of_their_files(function, source, runs_of):
    runs = runs_of(source)
    assert_equal_results(FUNCTIONS[function](runs.objects), FUNCTIONS[function](runs.files))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_objects_and_paths_may_be_mixed(function, runs_of):
    runs = runs_of("EvalLog")
    mixed = {"large": runs.objects["large"], "again": runs.files["again"], "small": [runs.files["small"]]}
    assert_equal_results(FUNCTIONS[function](mixed), FUNCTIONS[function](runs.files))


def test_results_of_both_harnesses_frames_and_paths_may_be_mixed(runs_of):
    systems = {"EvalLog": "large", "simple_evaluate": "large", "TaskLog": "small", "polars": "large"}
    mixed = [runs_of(source).objects[system] for source, system in systems.items()]
    expected = [row for runs in mixed for row in harness_uq.estimate(runs)]
    assert len({row.source.harness for row in expected}) == 3
    assert_equal_results(harness_uq.estimate(mixed), expected)
    by_name = dict(zip(systems, mixed, strict=True))
    assert [row.system for row in harness_uq.estimate(by_name)] == list(systems)


@pytest.mark.parametrize("source", SOURCES)
def test_the_structure_of_objects_is_that_of_their_files(source, runs_of):
    runs = runs_of(source)
    found, expected = (harness_uq.detect_structure(one["large"]) for one in (runs.objects, runs.files))
    assert [entry.metrics.keys() for entry in found] == [entry.metrics.keys() for entry in expected]
    assert [entry.clusters.fact for entry in found] == [entry.clusters.fact for entry in expected]


@pytest.mark.parametrize("source", SOURCES)
def test_read_logs_of_objects_reads_what_their_files_contain(source, runs_of):
    runs = runs_of(source)
    found, expected = (read_logs(list(one.values())).logs for one in (runs.objects, runs.files))
    assert len(found) == len(expected) == 3
    for log, other in zip(found, expected, strict=True):
        assert (log.system, log.task, log.questions.ids) == (other.system, other.task, other.questions.ids)
        assert (log.questions.hashes, log.facts, log.reported) == (other.questions.hashes, other.facts, other.reported)
        for data, other_data in zip(log.data, other.data, strict=True):
            assert (data.metric, data.filter, data.levels) == (other_data.metric, other_data.filter, other_data.levels)
            np.testing.assert_array_equal(data.values, other_data.values)


def test_a_mapping_names_the_systems(runs_of):
    runs = runs_of("EvalLog").objects
    named = {"first": [runs["large"]], "second": runs["small"]}
    assert {row.system for row in harness_uq.estimate(named)} == {"first", "second"}
    assert {row.system for ranking in harness_uq.rank(named) for row in ranking.systems} == {"first", "second"}
    (comparison,) = harness_uq.compare({"new": runs["large"]}, {"old": runs["small"]})
    assert (comparison.system_a, comparison.system_b) == ("new", "old")


def test_two_models_of_one_name_are_told_apart_by_the_names_of_a_mapping(runs_of):
    runs = runs_of("simple_evaluate").objects
    (ranking,) = harness_uq.rank({"run 1": runs["large"], "run 2": runs["again"]})
    assert {row.system for row in ranking.systems} == {"run 1", "run 2"}


def test_a_dictionary_with_results_and_configs_is_a_result_and_not_a_mapping_of_names(runs_of):
    (log,) = read_logs(runs_of("simple_evaluate").objects["large"]).logs
    assert (log.system, log.source.harness) == ("large", "lm-eval")


def test_results_without_samples_have_their_totals(runs_of):
    result = {name: value for name, value in runs_of("simple_evaluate").objects["large"].items() if name != "samples"}
    (row,) = harness_uq.estimate(result)
    assert (row.value, row.n_questions) == (result["results"]["toy"]["acc,none"], N_QUESTIONS)
    assert row.interval is not None
    (log,) = read_logs(result).logs
    assert (log.data[0].reason, len(log.questions)) == ("The results contain no samples of this task", 0)


def test_different_runs_with_equal_scores_are_not_called_the_same_log(runs_of):
    result = runs_of("simple_evaluate").objects["large"]
    copy = result | {"date": result["date"] + 1}
    explanations = [
        params_of(harness_uq.compare(result, other)[0].messages[0], "identical-runs")["explanation"]
        for other in (result, copy)
    ]
    assert explanations[0] == "because both sides read the same log"
    assert explanations[1] != explanations[0]


def test_two_systems_of_one_table_with_equal_scores_are_not_called_the_same_log(tmp_path, capsys):
    table = tmp_path / "scores.csv"
    rows = [f"q{k},{system},{k % 2}" for k in range(20) for system in "AB"]
    table.write_text("\n".join(["question,system,score", *rows]), encoding="utf-8")
    assert main(["compare", str(table)]) == 0
    assert "the same samples under two names" in " ".join(capsys.readouterr().out.split())


def test_a_header_is_completed_from_its_file(runs_of):
    inspect_log = pytest.importorskip("inspect_ai.log")
    runs = runs_of("EvalLog")
    header = inspect_log.read_eval_log(runs.files["large"], header_only=True)
    assert header.samples is None
    assert_equal_results(harness_uq.estimate(header), harness_uq.estimate(runs.files["large"]))


def test_a_header_without_a_file_has_its_totals(runs_of, tmp_path):
    log = runs_of("EvalLog").objects["large"].model_copy(update={"samples": None, "location": str(tmp_path / "gone")})
    (row,) = harness_uq.estimate(log)
    assert (row.value, row.n_questions) == (pytest.approx(scores("large").mean()), N_QUESTIONS)


def test_an_entry_of_a_list_of_logs_is_read_from_its_file(runs_of, tmp_path):
    inspect_log = pytest.importorskip("inspect_ai.log")
    runs = runs_of("EvalLog")
    folder = Path(runs.files["large"]).parent
    listed = inspect_log.list_eval_logs(str(folder))
    assert len(listed) == 3
    by_name = {Path(info.name).stem: info for info in listed}
    assert_equal_results(harness_uq.estimate(by_name["0-large"]), harness_uq.estimate(runs.files["large"]))


def test_scores_that_were_changed_in_memory_count(runs_of):
    log = runs_of("EvalLog").objects["large"].model_copy(deep=True)
    for sample in log.samples:
        sample.scores["match"].value = "C"
    assert harness_uq.estimate(log)[0].value == 1.0


@pytest.mark.parametrize("runs", [42, np.zeros(3), [None], {"a": 1.5}, b"path"], ids=repr)
def test_an_object_that_no_reader_accepts_is_a_type_error_that_names_the_accepted_ones(runs):
    with pytest.raises(TypeError) as caught:
        harness_uq.estimate(runs)
    for name in ("TaskLog", "inspect_ai.log.EvalLog", "lm_eval.simple_evaluate", "polars.DataFrame"):
        assert name in str(caught.value)


def test_the_error_names_the_type_of_the_object():
    with pytest.raises(TypeError, match=r"type numpy\.ndarray\."):
        harness_uq.rank(["runs", np.zeros(3)])


def test_objects_of_another_kind_from_a_harness_are_refused_and_not_taken_apart(runs_of):
    sample = runs_of("EvalLog").objects["large"].samples[0]
    with pytest.raises(TypeError, match="EvalSample"):
        harness_uq.estimate(sample)


class Reader:
    """A reader of complex numbers: the real part is the score of the only question."""

    objects = ("complex",)

    def __init__(self, name: str) -> None:
        self.name = name

    def find(self, paths):
        raise AssertionError("no paths were given")

    read = find

    def accepts_object(self, result: object) -> bool:
        return isinstance(result, complex)

    def read_object(self, result: complex):
        if result.imag:
            raise LogError("it is not real")
        yield task_log([result.real], system="complex")


def test_a_reader_of_a_plugin_reads_objects():
    (log,) = read_logs([1 + 0j], harnesses={"complex": Reader("complex")}).logs
    assert log.data[0].values.tolist() == [[1.0]]


def test_an_object_that_cannot_be_read_is_a_failure_and_the_others_are_read():
    found = read_logs([1 + 1j, 0j], harnesses={"complex": Reader("complex")})
    assert [log.system for log in found.logs] == ["complex"]
    ((label, message),) = found.failures
    assert (label, params_of(message, "log-unreadable")["reason"]) == ("complex", "it is not real")
    with pytest.raises(LogError, match="not real"):
        read_logs([1 + 1j, 0j], harnesses={"complex": Reader("complex")}, strict=True)


def test_lists_and_tuples_are_runs_even_if_a_reader_accepts_every_object():
    class Greedy(Reader):
        def accepts_object(self, result: object) -> bool:
            return True

    given = sort_runs(([1j], (2j,)), {"greedy": Greedy("greedy")})
    assert [item.result for item in given[None].results] == [1j, 2j]


def test_an_object_of_two_readers_is_an_error():
    with pytest.raises(LogError) as caught:
        sort_runs([0j], {name: Reader(name) for name in ("a", "b")})
    assert caught.value.message.name == "file-claimed-twice"
