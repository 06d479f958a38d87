"""Unknown names in the settings and in the metadata of tasks are errors before the run."""

from types import SimpleNamespace

import pytest

from harness_uq import HarnessUqError
from harness_uq_lm_eval.live.preflight import check_tasks
from harness_uq_lm_eval.live.settings import LmEvalSettings


def task(uq=None, docs=({"passage": {"id": 1}, "q": "?"},)):
    return SimpleNamespace(config=SimpleNamespace(metadata={} if uq is None else {"uq": uq}), eval_docs=list(docs))


@pytest.mark.parametrize("uq", [None, {}, {"cluster": "passage.id"}, {"cluster": ["q", "passage.id"]}])
def test_existing_names_pass_the_check(uq):
    check_tasks({"t": task(uq)}, LmEvalSettings("bayes", cluster=("t=q",)))


@pytest.mark.parametrize("cluster", ["prompt_prefix", "q+passage.id"])
def test_prompts_and_composite_keys_are_fields(cluster):
    check_tasks({"t": task({"cluster": cluster})}, LmEvalSettings("bayes"))


@pytest.mark.parametrize(
    ("uq", "words"),
    [
        ({"cluster": "TYPO"}, "task t: metadata.uq.cluster: no document has the field 'TYPO'; there are passage, q"),
        ({"cluster": "q+TYPO"}, "no document has the field 'TYPO'"),
        ({"clusters": "q"}, "metadata.uq knows only 'cluster'; got clusters"),
        ({"method": "bayes"}, "how to estimate is said by --uq"),
        ("bayes", "metadata.uq must be an object"),
    ],
)
def test_a_missing_field_in_the_task_metadata_is_an_error(uq, words):
    with pytest.raises(HarnessUqError) as raised:
        check_tasks({"t": task(uq)}, LmEvalSettings("bayes"))
    assert words in str(raised.value)


def test_a_task_that_is_not_run_is_an_error():
    with pytest.raises(HarnessUqError, match="TYPO"):
        check_tasks({"t": task()}, LmEvalSettings("bayes", cluster=("TYPO=q",)))


def test_an_internal_failure_does_not_fail_the_run():
    check_tasks(
        {"t": SimpleNamespace(config=SimpleNamespace(metadata={"uq": {"cluster": "q"}}))}, LmEvalSettings("bayes")
    )
