"""Options of Python functions as keywords with the names of the command line."""

import importlib.util
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import harness_uq
from harness_uq import DataError, LogError, Options, options_typed
from harness_uq.analyses.pilot_variances import Components
from harness_uq.commands.main import main
from harness_uq.commands.parser import COMMANDS, build_parser
from harness_uq.data.structure import StructureOptions
from harness_uq.inference.subset import estimate_whole
from harness_uq.io.human_labels import read_labels
from harness_uq.messages.errors import StructureError
from harness_uq.options import OPTIONS, options_of_function
from tests.conftest import ROOT
from tests.data.toy import task_log

RNG = np.random.default_rng(7)
LARGE, SMALL = (RNG.binomial(1, p, 40) for p in (0.8, 0.5))
PASSAGE = [i // 4 for i in range(40)]
A = task_log(LARGE, system="large", fields={"passage": PASSAGE})
B = task_log(SMALL, system="small", fields={"passage": PASSAGE})
CLUSTERED = StructureOptions(cluster="passage")
RUNS = [
    task_log(RNG.binomial(1, 0.6, (30, 2)), system=f"m (seed={seed})", fields={"passage": [i // 3 for i in range(30)]})
    for seed in range(3)
]


@pytest.mark.parametrize(
    ("with_keywords", "with_options"),
    [
        (
            lambda: harness_uq.estimate(A, level=0.8, method="t", cluster="none"),
            lambda: harness_uq.estimate(A, Options(method="t", level=0.8, structure=StructureOptions(cluster="none"))),
        ),
        (
            lambda: harness_uq.estimate(A, interval="quantile", cluster={"toy": "passage"}),
            lambda: harness_uq.estimate(
                A, Options(interval="quantile", structure=StructureOptions(cluster_by_task={"toy": "passage"}))
            ),
        ),
        (
            lambda: harness_uq.estimate(A, range={"acc": (-1, 1)}, cluster=["none", "toy=passage"]),
            lambda: harness_uq.estimate(
                A, Options(structure=StructureOptions("none", {"toy": "passage"}, {"acc": (-1, 1)}))
            ),
        ),
        (
            lambda: harness_uq.estimate(A, Options(method="t", structure=CLUSTERED), level=0.8),
            lambda: harness_uq.estimate(A, Options(method="t", level=0.8, structure=CLUSTERED)),
        ),
        (
            lambda: harness_uq.compare(A, B, margin=0.02, method="latent-normal", cluster="none"),
            lambda: harness_uq.compare(
                A, B, Options(method="latent-normal", margin=0.02, structure=StructureOptions(cluster="none"))
            ),
        ),
        (
            lambda: harness_uq.compare(A, B, margins={"toy": 0.1}, scope="population", power=0.9),
            lambda: harness_uq.compare(A, B, Options(margins={"toy": 0.1}, power=0.9)),
        ),
        (
            lambda: harness_uq.rank([A, B], correction="bh", n_draws=2000, seed=3),
            lambda: harness_uq.rank([A, B], Options(correction="bh", n_draws=2000, seed=3)),
        ),
        (
            lambda: [harness_uq.gate(B, A, margin=0.05, level=0.9)],
            lambda: [harness_uq.gate(B, A, Options(margin=0.05, level=0.9))],
        ),
        (
            lambda: [harness_uq.gate(B, A, margins={"toy": 0.05})],
            lambda: [harness_uq.gate(B, A, Options(margins={"toy": 0.05}))],
        ),
        (
            lambda: [harness_uq.gate(B, A, margins={"acc": 0.05})],
            lambda: [harness_uq.gate(B, A, Options(margins={"acc": 0.05}))],
        ),
        (
            lambda: [harness_uq.self_test(RUNS[0], margin=0.05, n=4, seed=5)],
            lambda: [harness_uq.self_test(RUNS[0], Options(margin=0.05, seed=5), n=4)],
        ),
        (
            lambda: harness_uq.effects(RUNS, generalize_over="question, seed", level=0.9),
            lambda: harness_uq.effects(RUNS, Options(generalize_over=("question", "seed"), level=0.9)),
        ),
        (
            lambda: harness_uq.effects(RUNS, factor={"start": "seed"}),
            lambda: harness_uq.effects(RUNS, Options(factor={"start": "seed"})),
        ),
        (
            lambda: harness_uq.plan(RUNS[0], width=0.1, questions=100, trials=2, cost_per_trial=3.0),
            lambda: harness_uq.plan(RUNS[0], Options(width=0.1, questions=100, trials=2, cost_per_trial=3.0)),
        ),
        (
            lambda: harness_uq.plan(components=Components(difference=0.1), difference=0.03),
            lambda: harness_uq.plan(None, Options(difference=0.03), components=Components(difference=0.1)),
        ),
        (
            lambda: harness_uq.report([A, B], level=0.8, cluster="passage", margins={"toy": 0.1}).comparisons,
            lambda: (
                harness_uq.report([A, B], Options(level=0.8, structure=CLUSTERED), margins={"toy": 0.1}).comparisons
            ),
        ),
    ],
)
def test_keywords_give_the_results_of_the_options(with_keywords: Callable, with_options: Callable) -> None:
    found, expected = with_keywords(), with_options()
    assert [row.to_dict() for row in found] == [row.to_dict() for row in expected]


def test_keywords_change_the_results() -> None:
    assert harness_uq.estimate(A, level=0.8)[0].interval.level == 0.8
    assert harness_uq.estimate(A, method="t", cluster="none")[0].method == "t"
    assert harness_uq.estimate(A, cluster="none")[0].cluster_key is None
    (structure,) = harness_uq.detect_structure(A, cluster="passage")
    assert structure.clusters.key == "passage"


@pytest.mark.parametrize(
    "call",
    [
        lambda **keywords: harness_uq.estimate(A, **keywords),
        lambda **keywords: harness_uq.estimate_scores(LARGE, **keywords),
        lambda **keywords: harness_uq.compare(A, B, **keywords),
        lambda **keywords: harness_uq.compare_scores(LARGE, SMALL, **keywords),
        lambda **keywords: harness_uq.rank([A, B], **keywords),
        lambda **keywords: harness_uq.rank_scores({"a": LARGE, "b": SMALL}, **keywords),
        lambda **keywords: harness_uq.gate(A, B, margin=0.01, **keywords),
        lambda **keywords: harness_uq.self_test(A, margin=0.01, **keywords),
        lambda **keywords: harness_uq.effects(RUNS, **keywords),
        lambda **keywords: harness_uq.plan(A, **keywords),
        lambda **keywords: harness_uq.report([A, B], **keywords),
    ],
    ids=["estimate", "estimate_scores", "compare", "compare_scores", "rank", "rank_scores", "gate", "self_test",
         "effects", "plan", "report"],
)  # fmt: skip
def test_a_misspelled_keyword_suggests_the_nearest(call) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'levl'. Did you mean 'level'\?"):
        call(levl=0.9)


def test_a_misspelled_keyword_of_the_structure_suggests_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"detect_structure\(\) .* 'clusters'. Did you mean 'cluster'\?"):
        harness_uq.detect_structure(A, clusters="passage")


def test_names_of_attributes_suggest_the_names_of_the_command_line() -> None:
    with pytest.raises(TypeError, match="Did you mean 'questions'"):
        harness_uq.plan(A, n_questions=3)
    with pytest.raises(TypeError, match="Did you mean 'range'"):
        harness_uq.estimate(A, ranges={"acc": (0, 1)})


def test_parts_of_the_logs_are_selected_as_on_the_command_line() -> None:
    logs = [task_log(LARGE, system=system, task=task) for system in ("x", "y") for task in ("gsm8k", "mmlu")]
    assert {(row.system, row.task) for row in harness_uq.estimate(logs, task="mm*", model=["x", "y"])} == {
        ("x", "mmlu"),
        ("y", "mmlu"),
    }
    assert {ranking.task for ranking in harness_uq.rank(logs, task="gsm8k")} == {"gsm8k"}


@pytest.mark.parametrize(
    ("keywords", "kind", "name"),
    [
        ({"range": {"bleu": (0, 100)}}, StructureError, "unknown-name"),
        ({"cluster": {"tay": "passage"}}, StructureError, "unknown-name"),
        ({"cluster": "pasage"}, StructureError, "unknown-cluster-field"),
        ({"task": "tay"}, DataError, "no-such-selection"),
    ],
)
def test_a_name_that_the_logs_lack_is_an_error_as_on_the_command_line(keywords, kind, name) -> None:
    with pytest.raises(kind) as caught:
        harness_uq.estimate(A, **keywords)
    assert caught.value.message.name == name


def test_a_margin_of_a_task_that_is_not_compared_is_an_error() -> None:
    with pytest.raises(StructureError) as caught:
        harness_uq.compare(A, B, margins={"tay": 0.1})
    assert (caught.value.message.name, caught.value.message.params["name"]) == ("unknown-name", "tay")


def test_a_gate_without_a_margin_is_an_error_as_on_the_command_line() -> None:
    for call in (lambda: harness_uq.gate(A, B), lambda: harness_uq.self_test(A, level=0.9)):
        with pytest.raises(DataError, match=r"margin=0\.01"):
            call()


def test_an_unknown_method_of_a_comparison_is_an_error() -> None:
    with pytest.raises(DataError, match="Did you mean 'dirichlet'"):
        harness_uq.compare(A, B, method="dirichelt")


def test_settings_files_are_not_read(tmp_path, monkeypatch) -> None:
    (tmp_path / "harness-uq.toml").write_text('level = 0.5\ncluster = "none"\nmargin = 0.2\nignore = ["UQ205"]\n')
    monkeypatch.chdir(tmp_path)
    (row,) = harness_uq.estimate(A)
    assert (row.interval.level, row.cluster_key) == (0.95, "passage")
    assert harness_uq.compare(A, B)[0].margin == 0


def test_the_module_of_the_types_is_current() -> None:
    spec = importlib.util.spec_from_file_location("write_options_typed", ROOT / "tools/write_options_typed.py")
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert Path(options_typed.__file__).read_text(encoding="utf-8") == writer.module()


@pytest.mark.parametrize("command", ["estimate", "compare", "rank", "gate", "effects", "history", "plan", "report"])
def test_keywords_are_options_of_the_command_with_these_exceptions(command: str) -> None:
    of_python_alone = {
        "compare": {"power", "margins"},
        "rank": {"n_draws", "overall"},
        "gate": {"power", "margins", "method"},
        "history": {"cluster", "use_samples"},
        "report": {"margins"},
        "estimate": {"overall"},
    }
    arguments = {
        argument.removeprefix("--").replace("-", "_")
        for action in build_parser(COMMANDS[command])._actions
        for argument in action.option_strings
        if argument.startswith("--")
    }
    assert {*options_of_function(command)} - arguments == of_python_alone.get(command, set())


VALUES = {
    "scope": "bench",
    "interval": "foo",
    "correction": "holms",
    "method": "dirichelt",
    "normalize": "chanc",
    "missing_tasks": "comon",
    "weights": "eqal",
    "seed": -1,
    "level": 95,
    "power": 1.0,
    "margin": -0.1,
    "margins": {"toy": -0.1},
    "n_draws": 10,
    "improve_by": -1.0,
    "at_least": math.inf,
    "chance": {"toy": 1.5},
    "range": {"acc": (1, 0)},
    "width": 0.0,
    "questions": 0,
    "trials": 2.5,
    "estimand": "pass@",
}
"""An invalid value of each option that has any."""
CALLS = {
    "estimate": lambda **keywords: harness_uq.estimate(A, **keywords),
    "estimate_scores": lambda **keywords: harness_uq.estimate_scores(LARGE, **keywords),
    "compare": lambda **keywords: harness_uq.compare(A, B, **keywords),
    "compare_scores": lambda **keywords: harness_uq.compare_scores(LARGE, SMALL, **keywords),
    "rank": lambda **keywords: harness_uq.rank([A, B], **keywords),
    "rank_scores": lambda **keywords: harness_uq.rank_scores({"a": LARGE, "b": SMALL}, **keywords),
    "gate": lambda **keywords: harness_uq.gate(A, B, **{"margin": 0.01, **keywords}),
    "self_test": lambda **keywords: harness_uq.self_test(A, **{"margin": 0.01, **keywords}),
    "effects": lambda **keywords: harness_uq.effects(RUNS, **keywords),
    "plan": lambda **keywords: harness_uq.plan(A, **keywords),
    "report": lambda **keywords: harness_uq.report([A, B], **keywords),
    "history": lambda **keywords: harness_uq.history(RUNS, **keywords),
}


@pytest.mark.parametrize("function", CALLS)
def test_an_invalid_value_is_an_error_that_names_the_option(function: str) -> None:
    for name in VALUES.keys() & options_of_function(function).keys():
        if name == "method" and not options_of_function(function)["method"].choices:
            continue  # which methods exist depends on the plugins
        value = (1, 0) if name == "range" and function.endswith("_scores") else VALUES[name]
        with pytest.raises(DataError, match=f"{name}: "):
            CALLS[function](**{name: value})


def test_every_declared_default_is_valid_and_every_option_of_a_command_has_a_help() -> None:
    for name, one in OPTIONS.items():
        one.check(one.default)
        assert one.name == name
        assert bool(one.help) == bool(one.commands), name


# ---------------------------------------------------------------- arrays


def test_two_arrays_are_compared_with_the_paired_t_test_of_scipy() -> None:
    a, b = RNG.normal(0.6, 0.2, 30), RNG.normal(0.5, 0.2, 30)
    row = harness_uq.compare_scores(a, b, method="t", level=0.9)
    reference = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (row.difference.interval.low, row.difference.interval.high) == pytest.approx((reference.low, reference.high))


def test_clusters_and_trials_of_arrays_count_in_comparisons_and_rankings() -> None:
    trials = np.stack([LARGE, LARGE[::-1]], axis=1)
    row = harness_uq.compare_scores(trials, SMALL, clusters=PASSAGE)
    assert (row.n_clusters, row.n_trials, row.n_matched) == (10, 2, 40)
    ranking = harness_uq.rank_scores({"large": trials, "small": SMALL}, clusters=PASSAGE)
    (of_logs,) = harness_uq.rank(
        [
            task_log(values, system=name, metric="score", fields={"passage": PASSAGE})
            for name, values in (("large", trials), ("small", SMALL))
        ],
        cluster="passage",
    )
    assert [row.interval for row in ranking.systems] == [row.interval for row in of_logs.systems]


def test_the_range_of_an_array_is_a_pair() -> None:
    likert = [1, 2, 5, 4, 3, 5, 2, 4, 4, 5]
    low, high = (harness_uq.estimate_scores(likert, range=(low, 5), method="bayes").interval for low in (1, -20))
    assert low != high
    assert harness_uq.compare_scores(likert, likert[::-1], range=(1, 5)).difference is not None


def test_arrays_of_different_questions_are_an_error() -> None:
    with pytest.raises(DataError, match="40 and 39 rows"):
        harness_uq.compare_scores(LARGE, SMALL[1:])
    with pytest.raises(DataError, match="39 and 40 rows"):
        harness_uq.rank_scores({"a": LARGE, "b": SMALL[1:]})


def test_equal_arrays_are_not_called_the_same_log() -> None:
    (message, *_) = harness_uq.compare_scores(LARGE, LARGE).messages
    assert (message.name, message.params["explanation"]) == (
        "identical-runs",
        "perhaps because they contain the same samples under two names",
    )


# ---------------------------------------------------------------- columns, labels and reference runs


def write_scores(path, systems="ab"):
    """A table whose columns are not recognized by their names."""
    rows = [f"q{k},{system},{(k * n) % 3 > 0:d}" for n, system in enumerate(systems, 1) for k in range(40)]
    path.write_text("\n".join(["nr,maker,truth", *rows]) + "\n")
    return str(path)


COLUMN = {"question": "nr", "system": "maker", "score": "truth"}


@pytest.mark.parametrize(
    "call",
    [
        lambda path, **options: harness_uq.estimate(path, **options)[0].n_questions,
        lambda path, **options: harness_uq.detect_structure(path, **options)[0].summaries()[0].n_questions,
        lambda path, **options: harness_uq.rank(path, **options)[0].n_questions,
        lambda path, **options: harness_uq.compare(path, path, model="a", **options)[0].n_matched,
        lambda path, **given: harness_uq.gate(path, path, model="a", margin=0.1, **given).rows[0].comparison.n_matched,
        lambda path, **options: harness_uq.report(path, **options).estimates[0].n_questions,
        lambda path, **options: 40 if harness_uq.plan(path, width=0.2, model="a", **options) else 0,
    ],
    ids=["estimate", "detect_structure", "rank", "compare", "gate", "report", "plan"],
)
def test_columns_of_tables_are_named_as_on_the_command_line(call, tmp_path) -> None:
    path = write_scores(tmp_path / "scores.csv")
    assert call(path, column=COLUMN) == 40
    with pytest.raises(LogError):
        call(path)
    with pytest.raises(LogError, match="Unknown role"):
        call(path, column={"points": "truth"})


def test_columns_of_data_frames_are_named(tmp_path) -> None:
    frame = pytest.importorskip("pandas").DataFrame({"nr": range(40), "truth": LARGE, "score": SMALL})
    (row,) = harness_uq.estimate(frame, column={"question": "nr", "score": "truth"})
    assert row.value == pytest.approx(LARGE.mean())


def printed_estimates(capsys, *arguments: str) -> list:
    """The estimates that the command prints."""
    assert main(["estimate", *arguments, "--format", "json", "--isolated"]) == 0
    return json.loads(capsys.readouterr().out)["estimates"]


def test_labels_correct_scores_as_on_the_command_line(tmp_path, capsys) -> None:
    path = write_scores(tmp_path / "scores.csv", "a")
    labels = tmp_path / "labels.csv"
    labels.write_text("id,score\n" + "".join(f"q{k},{k % 3 > 0 and k != 7:d}\n" for k in range(30)))
    options = [word for role, name in COLUMN.items() for word in ("--column", f"{role}={name}")]
    expected = printed_estimates(capsys, path, *options, "--labels", str(labels))
    assert expected[0]["method"] == "judge-corrected"
    for given in (str(labels), labels, read_labels(labels)):
        rows = harness_uq.estimate(path, column=COLUMN, labels=given)
        assert [row.to_dict() for row in rows] == expected
        assert [row.to_dict() for row in harness_uq.report(path, column=COLUMN, labels=given).estimates] == expected
    folder_rows = harness_uq.estimate(tmp_path, column=COLUMN | {"question": "nr"}, labels=labels)
    assert [row.to_dict() for row in folder_rows] == expected


def test_a_metric_with_labels_is_read_even_if_it_is_not_selected() -> None:
    log = task_log(LARGE, metric="judge")
    human = task_log([score * (n % 7 > 0) for n, score in enumerate(LARGE)], metric="human").data
    both = replace(log, data=(*log.data, *human))
    (row,) = harness_uq.estimate(both, metric="judge", labels="human")
    assert (row.metric, row.method) == ("judge", "judge-corrected")
    with pytest.raises(DataError, match="Did you mean 'human'"):
        harness_uq.estimate(both, labels="humen")


def test_reference_runs_adjust_for_questions_that_were_not_run() -> None:
    ids = [f"q{n}" for n in range(40)]
    reference = [task_log(RNG.binomial(1, p, 40), system=f"s{p}", ids=ids) for p in (0.4, 0.5, 0.6, 0.7)]
    part = task_log(LARGE[:15], system="new", ids=ids[:15])
    (row,) = harness_uq.estimate(part, scope="full", reference_runs=reference)
    (expected,) = estimate_whole(part, reference)
    assert row.to_dict() == expected.to_dict()
    assert row.scope == "full"
    chances = {"toy": dict.fromkeys(ids, 0.375)}
    harness_uq.estimate(part, scope="full", reference_runs=reference, inclusion_probabilities=chances)
    for wrong in (
        {"reference_runs": reference},
        {"scope": "full", "reference_runs": reference, "labels": "human"},
        {"inclusion_probabilities": chances},
    ):
        with pytest.raises(DataError):
            harness_uq.estimate(part, **wrong)


@pytest.mark.parametrize(
    ("call", "command", "words"),
    [
        (
            lambda: harness_uq.estimate(A, by="passage", labels="acc"),
            "estimate LOG --by passage --labels acc",
            ("by", "cannot be combined with", "labels", ", which does not apply to the scores of groups."),
        ),
        (
            lambda: harness_uq.estimate(A, reference_runs=[B]),
            "estimate LOG --reference-runs LOG",
            ("reference_runs", "requires", "scope='full'", "."),
        ),
        (
            lambda: harness_uq.rank([A, B], by="passage", labels="acc"),
            "rank LOG --by passage --labels acc",
            ("labels", "cannot be combined with", "by", ", which does not correct scores."),
        ),
        (
            lambda: harness_uq.compare(A, B, scope="benchmark", labels="acc"),
            "compare LOG LOG --scope benchmark --labels acc",
            ("labels", "requires", "scope='population'", "."),
        ),
        (
            lambda: harness_uq.gate(A, B, margin=0.1, labels="acc", overall=True),
            "gate LOG --baseline LOG --margin 0.1 --labels acc --overall",
            ("labels", "cannot be combined with", "overall", "."),
        ),
    ],
)
def test_a_function_and_its_command_refuse_the_same_combinations(
    call: Callable, command: str, words: tuple[str, str, str, str], tmp_path: Path, capsys
) -> None:
    with pytest.raises(DataError) as error:
        call()
    assert str(error.value) == "{} {} {}{}".format(*words)
    path = tmp_path / "scores.csv"
    path.write_text("question,score\n1,1\n2,0\n")
    assert main(command.replace("LOG", str(path)).split()) == 2
    option, verb, other, reason = words
    flags = [f"--{word.replace('_', '-').replace('=', ' ').replace(chr(39), '')}" for word in (option, other)]
    assert f"{flags[0]} {verb} {flags[1]}{reason}" in capsys.readouterr().err


def test_a_report_with_labels_covers_one_system() -> None:
    with pytest.raises(DataError, match="one system"):
        harness_uq.report([A, B], labels="acc")
