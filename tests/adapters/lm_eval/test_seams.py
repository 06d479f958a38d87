"""Where a part of lm-eval is gone, the run goes on as its own, and one line says which part and which version."""

import logging
from importlib.metadata import version

import pytest

import harness_uq_lm_eval

pytest.importorskip("lm_eval")

from harness_uq_lm_eval.live import command, seams
from harness_uq_lm_eval.live.settings import Asked
from tests.adapters.lm_eval import live

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASK = "live_mc"


def said(caplog, seam):
    (line,) = {record.getMessage() for record in caplog.records if "has no" in record.getMessage()}
    return f"lm-eval {version('lm-eval')} has no {seam}; " in line


@pytest.mark.parametrize("seam", seams.OWN_ERRORS, ids=str)
def test_every_seam_is_there_or_its_absence_is_known(seam):
    assert seam.is_there()


def rename(monkeypatch, seam):
    """lm-eval without this name; where its own modules use it they keep it, under another one."""
    import importlib

    module = importlib.import_module(seam.module)
    *classes, name = seam.name.split(".")
    owner = getattr(module, classes[0]) if classes else module
    monkeypatch.delattr(owner, name)


@pytest.mark.parametrize("seam", seams.EVALUATION, ids=str)
def test_without_the_evaluation_nothing_of_ours_is_set(monkeypatch, caplog, seam):
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
    assert said(caplog, seams.EVALUATE)


@pytest.mark.parametrize("seam", [seams.TABLE, seams.CONFIGURATION], ids=str)
def test_without_another_part_the_estimates_are_there(monkeypatch, caplog, live_folder, seam):
    rename(monkeypatch, seam)
    with caplog.at_level(logging.WARNING):
        results = live.simple_evaluate(live_folder, [TASK])
    assert live.entries(results)[TASK, "acc", "none"]["interval"] is not None
    assert said(caplog, seam)


def test_without_lm_evals_own_errors_its_bootstrap_stays_on(monkeypatch, caplog, live_folder):
    seam = seams.Seam("lm_eval.api.metrics", "no_such_function")
    monkeypatch.setattr(seams, "OWN_ERRORS", (*seams.OWN_ERRORS, seam))
    with caplog.at_level(logging.WARNING):
        results = live.simple_evaluate(live_folder, [TASK], bootstrap_iters=10)
    assert "bootstrap_iters" not in results["uq"]
    assert live.entries(results)[TASK, "acc", "none"]["harness"]["std_error"] is not None
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
def test_without_the_sub_parsers_a_command_is_lm_evals_own(monkeypatch, capsys, line, left, is_said):
    monkeypatch.setattr("sys.argv", list(line))
    monkeypatch.delenv("HARNESS_UQ", raising=False)
    command.extend(Renamed())
    import sys

    assert sys.argv == left
    error = capsys.readouterr().err
    assert (f"lm-eval {version('lm-eval')} has no command run of HarnessCLI" in error) is is_said
    assert error.count("\n") == is_said


def test_the_context_within_a_context_has_the_estimates(live_folder):
    with harness_uq_lm_eval.uq("bayes"), harness_uq_lm_eval.uq("bayes") as inner:
        live.simple_evaluate(live_folder, [TASK], uq=None)
    assert {row.task for row in inner.estimates} == {TASK}


def test_settings_that_make_no_sense_are_said():
    from harness_uq import HarnessUqError

    for values, words in (
        ({"method": {"method": "bayes"}}, "uq must be the name of a method"),
        ({"method": "bayes", "trials": "perhaps"}, "uq_trials must be one of"),
        ({"method": "bayes", "estimand": "pass@x"}, "pass@x"),
        ({"method": "bayes", "estimand": "pass@4", "trials": "off"}, "leaves out"),
    ):
        with pytest.raises(HarnessUqError, match=words):
            Asked(values).check()
