"""Messages about overall results of several tasks: UQ290 to UQ299."""

from harness_uq.messages.message import MessageType, message_types_in

OVERALL_TASKS_LEFT_OUT = MessageType(
    "UQ290",
    "overall-tasks-left-out",
    "warning",
    "The overall result leaves out {n_tasks:count task} for which a system has no interval: {left_out:join}.",
    "Overall scores are comparable only if they cover the same tasks. A task is used only if the score of every "
    "system on this task has an interval.",
    "Run the missing tasks, or leave out the systems without these tasks with `--missing-tasks drop-system`.",
)
OVERALL_SYSTEMS_LEFT_OUT = MessageType(
    "UQ291",
    "overall-systems-left-out",
    "warning",
    "The overall result leaves out {n_systems:count system} because {n_systems:plural it has|they have} no interval "
    "for some tasks: {left_out:join}.",
    "With the option `--missing-tasks drop-system`, the overall result contains only systems that have an interval "
    "for all tasks.",
    "Run the missing tasks, or use only the tasks that all systems have with `--missing-tasks common`.",
)
OVERALL_TASKS_MISSING = MessageType(
    "UQ292",
    "overall-tasks-missing",
    "error",
    "Some systems have no interval for {n_tasks:count task} of the overall result: {left_out:join}.",
    "With the option `--missing-tasks error`, an overall result requires an interval of every system for every task.",
    "Run the missing tasks, or use `--missing-tasks common` or `--missing-tasks drop-system`.",
)
OVERALL_DIRECTIONS_DIFFER = MessageType(
    "UQ293",
    "overall-directions-differ",
    "refusal",
    "There is no overall result, because {direction} scores are better for {metrics:join}, unlike for the other "
    "{n_others:count task}. Select tasks of one direction with `--task`.",
    "The mean of a score that should be high and a score that should be low has no useful meaning.",
    "Choose other metrics with `--metric TASK=NAME`, or select tasks with `--task`.",
)
OVERALL_SCALES_DIFFER = MessageType(
    "UQ294",
    "overall-scales-differ",
    "refusal",
    "There is no overall result, because the scores have different ranges: {scales:join}.",
    "A mean of scores with different ranges depends mostly on the metric with the largest range.",
    "Choose other metrics with `--metric TASK=NAME`, select tasks with `--task`, or declare the range of a metric "
    "with `--range METRIC=LO,HI`.",
)
OVERALL_TOO_FEW_TASKS = MessageType(
    "UQ295",
    "overall-too-few-tasks",
    "refusal",
    "There is no overall result, because the {n_systems:count system} {n_systems:plural has|have} intervals for fewer "
    "than two common tasks.",
    "An overall result requires at least two tasks for which every system has a score with an interval.",
    "Run the missing tasks, or select systems with `--model`. `--missing-tasks drop-system` leaves out the systems "
    "that lack tasks.",
)
OVERALL_CHANCE_UNKNOWN = MessageType(
    "UQ296",
    "overall-chance-unknown",
    "refusal",
    "There is no overall result, because the score of random answers is unknown for {tasks:join}. Specify it "
    "with `--chance TASK=P`.",
    "With `--normalize chance`, each score is converted to (score - chance) / (1 - chance), where chance is the "
    "score of random answers.",
    "Set the score of random answers with `--chance TASK=P`. For multiple-choice tasks, P is 1 divided by the number "
    "of choices. For tasks with free-form answers, P is 0.",
)
OVERALL_WEIGHTS_UNKNOWN = MessageType(
    "UQ297",
    "overall-weights-unknown",
    "refusal",
    "There is no overall result, because the weights of the tasks are unknown: {reason}.",
    "`--weights group` uses the weights with which the harness combines the tasks of a group, and `--weights "
    "questions` uses the numbers of questions.",
    "Use `--weights equal`, or give the weights in a file (`--weights FILE`).",
)
OVERALL_SHARED_ITEMS = MessageType(
    "UQ298",
    "overall-shared-items",
    "note",
    "Some tasks share items, so the errors of their scores are correlated. The standard error of the overall score "
    "is {factor:.2f} times the standard error for tasks without common items.",
    "Translations or variants of one item are usually easy or difficult together.",
    "No action is required.",
)
OVERALL_TASK_WARNINGS = MessageType(
    "UQ299",
    "overall-task-warnings",
    "warning",
    "{n_tasks:count task} of the overall result {n_tasks:plural has|have} the warning {warning} ({name}).",
    "The overall score is a mean of the scores of its tasks, so a problem of a task affects the overall score.",
    "Read the warnings of each task, which `harness-uq estimate` and `harness-uq rank --per-task` print.",
)

TYPES = message_types_in(globals())
