import pickle

import pytest

from harness_uq.analyses.store.run_result import Interner, RunResult, outline
from tests.data.toy import TOY, task_log

WHOLE = task_log([1, 0, 1], fields={"topic": ["a", "b", "a"]}, subtasks=("t", "u"))


@pytest.mark.parametrize("log", [WHOLE, outline(WHOLE)], ids=["whole", "outline"])
def test_what_runs_from_several_workers_have_in_common_is_held_once(log):
    run = RunResult(TOY.path, None, (TOY.path,), (log,))
    places = [TOY.path]
    shared = Interner(places)
    _, first, second = (shared.run(pickle.loads(pickle.dumps(run))) for _ in range(3))
    assert first.path is second.path is first.files[0] is first.logs[0].source.path is places[0]
    for name in ("system", "task", "subtasks"):
        assert getattr(first.logs[0], name) is getattr(second.logs[0], name)
    one, other = first.logs[0].questions, second.logs[0].questions
    assert one.ids == log.questions.ids
    assert one.ids is other.ids
    assert one.fields["topic"] is other.fields["topic"]


def test_fields_that_divide_the_questions_alike_keep_their_own_values():
    log = task_log([1, 0, 1], fields={"gold": ["0", "1", "0"], "topic": ["law", "math", "law"]})
    shared = Interner([TOY.path]).run(RunResult(TOY.path, None, (TOY.path,), (log,))).logs[0].questions
    assert {name: field.values for name, field in shared.fields.items()} == {
        "gold": ("0", "1"),
        "topic": ("law", "math"),
    }
