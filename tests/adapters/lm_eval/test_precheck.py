"""Names that mean nothing are errors before a run, not silence after it."""

from types import SimpleNamespace

import pytest

from harness_uq import HarnessUqError
from harness_uq_lm_eval.live.precheck import check_tasks
from harness_uq_lm_eval.live.settings import Settings


def task(uq=None, docs=({"passage": {"id": 1}, "q": "?"},)):
    return SimpleNamespace(config=SimpleNamespace(metadata={} if uq is None else {"uq": uq}), eval_docs=list(docs))


@pytest.mark.parametrize("uq", [None, {}, {"cluster": "passage.id"}, {"cluster": ["q", "passage.id"]}])
def test_what_exists_is_let_through(uq):
    check_tasks({"t": task(uq)}, Settings("bayes", cluster=("t=q",)))


@pytest.mark.parametrize("cluster", ["prompt_prefix", "q+passage.id"])
def test_prompts_and_composite_keys_are_fields(cluster):
    check_tasks({"t": task({"cluster": cluster})}, Settings("bayes"))


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
def test_what_a_task_names_and_does_not_exist_is_an_error(uq, words):
    with pytest.raises(HarnessUqError) as raised:
        check_tasks({"t": task(uq)}, Settings("bayes"))
    assert words in str(raised.value)


def test_a_task_that_is_not_run_is_an_error():
    with pytest.raises(HarnessUqError, match="TYPO"):
        check_tasks({"t": task()}, Settings("bayes", cluster=("TYPO=q",)))


def test_a_failure_of_ours_is_none_of_the_run():
    check_tasks({"t": SimpleNamespace(config=SimpleNamespace(metadata={"uq": {"cluster": "q"}}))}, Settings("bayes"))
