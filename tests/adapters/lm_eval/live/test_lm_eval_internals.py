"""Without a name of lm-eval, the run continues as lm-eval's own, and one line states the name and the version."""

import logging
from importlib.metadata import version

import pytest

import harness_uq_lm_eval

pytest.importorskip("lm_eval")

from harness_uq_lm_eval.live import lm_eval_internals, run_arguments
from harness_uq_lm_eval.live.settings import RequestedSettings
from tests.adapters.lm_eval.live import live_runs

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASK = "live_mc"


def said(caplog, seam):
    (line,) = {record.getMessage() for record in caplog.records if "has no" in record.getMessage()}
    return f"lm-eval {version('lm-eval')} has no {seam}; " in line


@pytest.mark.parametrize("seam", lm_eval_internals.NATIVE_STDERR, ids=str)
def test_all_names_of_lm_eval_are_available(seam):
    assert seam.is_available()


def rename(monkeypatch, seam):
    """Remove this name from lm-eval; its own modules keep their reference to it."""
    import importlib

    module = importlib.import_module(seam.module)
    *classes, name = seam.name.split(".")
    owner = getattr(module, classes[0]) if classes else module
    monkeypatch.delattr(owner, name)


@pytest.mark.parametrize("seam", lm_eval_internals.EVALUATION, ids=str)
def test_without_the_evaluation_functions_nothing_is_wrapped(monkeypatch, caplog, seam):
    rename(monkeypatch, seam)
    with caplog.at_level(logging.WARNING), harness_uq_lm_eval.uq("bayes") as session:
        assert session.estimates == []
        from lm_eval import utils

        assert not hasattr(utils.make_table, "__wrapped__")
    assert said(caplog, seam)


def test_an_evaluation_of_other_parameters_is_left_alone(monkeypatch, caplog):
    from lm_eval import evaluator

    monkeypatch.setattr(evaluator, "evaluate", other := lambda lm, tasks: None)
    with caplog.at_level(logging.WARNING), harness_uq_lm_eval.uq("bayes"):
        assert evaluator.evaluate is other
    assert said(caplog, lm_eval_internals.EVALUATE)


@pytest.mark.parametrize(
    "seam", [lm_eval_internals.TABLE, lm_eval_internals.CONFIGURATION, lm_eval_internals.TRACKER], ids=str
)
def test_without_an_optional_name_the_estimates_are_written(monkeypatch, caplog, live_folder, seam):
    rename(monkeypatch, seam)
    with caplog.at_level(logging.WARNING):
        results = live_runs.simple_evaluate(live_folder, [TASK])
    assert live_runs.entries(results)[TASK, "acc", "none"]["interval"] is not None
    assert said(caplog, seam)


def test_without_native_standard_errors_the_bootstrap_stays_on(monkeypatch, caplog, live_folder):
    seam = lm_eval_internals.Internal("lm_eval.api.metrics", "no_such_function")
    monkeypatch.setattr(lm_eval_internals, "NATIVE_STDERR", (*lm_eval_internals.NATIVE_STDERR, seam))
    with caplog.at_level(logging.WARNING):
        results = live_runs.simple_evaluate(live_folder, [TASK], bootstrap_iters=10)
    assert "bootstrap_iters" not in results["uq"]
    assert live_runs.entries(results)[TASK, "acc", "none"]["harness"]["std_error"] is not None
    assert said(caplog, seam)


class Renamed:
    """A command line whose sub-parsers have another name."""


@pytest.mark.parametrize(
    ("line", "left", "is_said"),
    [
        (["lm-eval", "run", "--uq", "bayes", "--tasks", "t"], ["lm-eval", "run", "--tasks", "t"], True),
        (["lm-eval", "ls", "tasks"], ["lm-eval", "ls", "tasks"], False),
    ],
)
def test_without_subparsers_the_command_is_lm_evals_own(monkeypatch, capsys, line, left, is_said):
    monkeypatch.setattr("sys.argv", list(line))
    monkeypatch.delenv("HARNESS_UQ", raising=False)
    run_arguments.add_uq_options(Renamed())
    import sys

    assert sys.argv == left
    error = capsys.readouterr().err
    assert (f"lm-eval {version('lm-eval')} has no command run of HarnessCLI" in error) is is_said
    assert error.count("\n") == is_said


def test_the_context_within_a_context_has_the_estimates(live_folder):
    with harness_uq_lm_eval.uq("bayes"), harness_uq_lm_eval.uq("bayes") as inner:
        live_runs.simple_evaluate(live_folder, [TASK], uq=None)
    assert {row.task for row in inner.estimates} == {TASK}


def test_invalid_settings_are_errors():
    from harness_uq import HarnessUqError

    for values, words in (
        ({"method": {"method": "bayes"}}, "Unknown method"),
        ({"method": "bayes", "trials": "perhaps"}, "Invalid trials: 'perhaps'. Give auto, on or off."),
        ({"method": "bayes", "estimand": "pass@x"}, "pass@x"),
        ({"method": "bayes", "estimand": "pass@4", "trials": "off"}, "requires single trials"),
    ):
        with pytest.raises(HarnessUqError, match=words):
            RequestedSettings(values).check()
