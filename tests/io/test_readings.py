"""What was read: warnings about tasks that were not selected."""

from harness_uq.io.readers import Reading
from harness_uq.messages.catalogue.reading import NO_LOG_IN_FOLDER, TASK_LEFT_OUT, TASKS_WITHOUT_SCORES
from tests.data.toy import task_log


def test_warnings_about_unscored_tasks_are_those_of_the_selected_tasks() -> None:
    left_out = [("run", TASK_LEFT_OUT(task=name, reason="no numbers")) for name in ("arc", "boolq", "member")]
    both = ("run", TASKS_WITHOUT_SCORES(n_tasks=2, tasks=["arc", "drop"]))
    other = ("folder", NO_LOG_IN_FOLDER(n_files=2, harnesses=["lm-eval"]))
    group, member = task_log([1, 0], task="group", subtasks=("member",)), task_log([1, 0], task="member")
    reading = Reading((group, member), warnings=(*left_out, both, other))
    assert reading.of_tasks(()) == reading
    assert reading.of_tasks(["arc"]).warnings == (left_out[0], both, other)
    assert reading.of_tasks(["d*"]).warnings == (both, other)
    assert reading.of_tasks(["group"]).warnings == (left_out[2], other)
