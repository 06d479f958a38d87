"""Messages about overall results of several tasks: UQ287 to UQ299."""

from harness_uq.messages.message import MessageType, message_types_in

OVERALL_METRIC_REPLACED = MessageType.note(
    "UQ287",
    "The overall result uses another metric than the usual one for {n_tasks:count task}, because the usual one does "
    "not have an interval in every case: {replaced:join}.",
    "The usual metric of a task is `acc_norm`, `acc`, `exact_match`, or otherwise the first one in the order of the "
    "alphabet. The overall result uses the first metric that has an interval for every system, and for every task if "
    "the metric belongs to a group.",
    "To choose another metric, use `--metric TASK=NAME`.",
)
OVERALL_GROUP_DIVIDED = MessageType.note(
    "UQ288",
    "The tasks of {groups:join} do not have a metric in common, so the overall result uses the members of "
    "{n_groups:plural this group|these groups} instead of the {n_groups:plural group|groups}.",
    "A group has one metric in an overall result. If no metric has an interval for all tasks of the group, each member "
    "of the group counts as one task with its own metric.",
    "To use the tasks of the group that have a certain metric, use `--metric GROUP=NAME`.",
)
OVERALL_OTHER_SCALE = MessageType.note(
    "UQ289",
    "The overall result leaves out {n_tasks:count task} whose scores have another direction or range than those of the "
    "other tasks: {left_out:join}.",
    "Scores can be averaged only if their direction and range are the same. An overall result averages the largest set "
    "of tasks with the same direction and range. Of sets of equal size, it averages that in which higher scores are "
    "better.",
    "Use `--metric TASK=NAME` to choose metrics with the same direction and range.",
)
OVERALL_TASKS_LEFT_OUT = MessageType.warning(
    "UQ290",
    "The overall result leaves out {n_tasks:count task} for which at least one system has no interval: "
    "{left_out:join}.",
    "The overall scores of several systems are comparable only if they cover the same tasks. An overall score "
    "includes a task only if every system has an interval for the task.",
    "Run the missing tasks, or use `--missing-tasks drop-system` to leave out the systems that lack a task.",
)
OVERALL_SYSTEMS_LEFT_OUT = MessageType.warning(
    "UQ291",
    "The overall result leaves out {n_systems:count system} because {n_systems:plural it has|they have} no interval "
    "for some tasks: {left_out:join}.",
    "With the option `--missing-tasks drop-system`, the overall result contains only systems that have an interval "
    "for every task.",
    "Run the missing tasks, or use `--missing-tasks common` to include only the tasks for which all systems have an "
    "interval.",
)
OVERALL_TASKS_MISSING = MessageType.error(
    "UQ292",
    "Some systems have no interval for {n_tasks:count task} of the overall result: {left_out:join}.",
    "With the option `--missing-tasks error`, an overall result requires that every system has an interval for every "
    "task.",
    "Run the missing tasks. To leave out tasks that a system lacks, use `--missing-tasks common`. To leave out "
    "systems that lack a task, use `--missing-tasks drop-system`.",
)
OVERALL_DIRECTIONS_DIFFER = MessageType.refusal(
    "UQ293",
    "There is no overall result, because {direction} scores are better for {metrics:join}, unlike for the other "
    "{n_others:count task}. Select tasks of one direction with `--task`.",
    "A mean is not meaningful if higher values are better for some of its scores and lower values are better for "
    "others. The message appears if fewer than two tasks have the same direction, or if the given weights name tasks "
    "of both directions. If no option requests an overall result, commands show it as a note.",
    "Use `--metric TASK=NAME` to choose metrics with the same direction, or use `--task` to select tasks with the "
    "same direction.",
)
OVERALL_SCALES_DIFFER = MessageType.refusal(
    "UQ294",
    "There is no overall result, because the scores have different ranges: {scales:join}.",
    "A mean of scores with different ranges depends mostly on the metric with the largest range.",
    "Choose other metrics with `--metric TASK=NAME`, select tasks with `--task`, or declare the range of a metric "
    "with `--range METRIC=LO,HI`.",
)
OVERALL_TOO_FEW_TASKS = MessageType.refusal(
    "UQ295",
    "There is no overall result, because the {n_systems:count system} {n_systems:plural has|have} intervals for fewer "
    "than two common tasks.",
    "An overall result requires at least two tasks for which every system has a score with an interval.",
    "Run the missing tasks, or use `--model` to select systems with common tasks. With `--missing-tasks drop-system`, "
    "harness_uq leaves out the systems that lack a task.",
)
OVERALL_CHANCE_UNKNOWN = MessageType.refusal(
    "UQ296",
    "There is no overall result, because the score of random answers is unknown for {tasks:join}. Specify the score "
    "of random answers with `--chance TASK=P`.",
    "With `--normalize chance`, each score is converted to (score - chance) / (1 - chance), where chance is the "
    "expected score of random answers.",
    "Set the score P of random answers with `--chance TASK=P`. For a multiple-choice task, the score of random "
    "answers is 1 divided by the number of choices. For a task with free-form answers, the score of random answers is "
    "0.",
)
OVERALL_WEIGHTS_UNKNOWN = MessageType.refusal(
    "UQ297",
    "There is no overall result, because the weights of the tasks are unknown: {reason}.",
    "With `--weights group`, each task has the weight that the harness uses for the task in its group. With "
    "`--weights questions`, each task is weighted by its number of questions.",
    "Use `--weights equal`, or provide the weights in a file (`--weights FILE`).",
)
OVERALL_SHARED_ITEMS = MessageType.note(
    "UQ298",
    "Some tasks share items, so the errors of their scores are correlated. The correlation makes the standard error "
    "of the overall score {factor:.2f} times as large.",
    "If an item is difficult, its translations and variants in other tasks are usually difficult as well.",
)
OVERALL_TASK_WARNINGS = MessageType.warning(
    "UQ299",
    "{n_tasks:count task} of the overall result {n_tasks:plural has|have} the warning {warning} ({name}).",
    "The overall score is a mean over tasks, so a problem with the score of one task also affects the overall score.",
    "Read the warnings for each task in the output of `harness-uq estimate` or `harness-uq rank --per-task`.",
)

TYPES = message_types_in(globals())
