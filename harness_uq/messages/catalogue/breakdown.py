"""Messages about scores by groups of questions: UQ430 to UQ439."""

from harness_uq.messages.message import MessageType, message_types_in

UNKNOWN_GROUP_FIELD = MessageType(
    "UQ430",
    "unknown-group-field",
    "error",
    "Task {task!r} has no field {field!r} to divide its questions into groups. Available fields: {known:join}.",
    "The option `--by FIELD` divides the questions into groups by a field of the questions' documents or metadata.",
    "Use one of the available fields. `harness-uq structure` lists the fields of each task.",
)
TOO_MANY_GROUPS = MessageType(
    "UQ431",
    "too-many-groups",
    "error",
    "Field {field!r} of task {task!r} has {n_values:count value}, which are too many or too long for groups. At most "
    "{most} groups are possible.",
    "The option `--by FIELD` creates a group for each different text in the field. Numbers are divided into ranges.",
    "Use a field with fewer values.",
)
GROUPS_NOT_POOLED = MessageType(
    "UQ432",
    "groups-not-pooled",
    "note",
    "No pooled estimates are available, because only {n_groups:count group} {n_groups:plural has|have} an interval.",
    "Pooled estimates combine the information of all groups. Pooled estimates require at least three groups whose "
    "scores have an interval.",
    "No action is required.",
)
FIELD_MISSING_IN_TASKS = MessageType(
    "UQ433",
    "group-field-missing",
    "note",
    "{n_tasks:count task} {n_tasks:plural has|have} no field {field!r}, so the questions of {tasks:join} are not "
    "divided into groups.",
    "Tasks of the same run can have different fields.",
    "No action is required.",
)
GROUP_FIELD_IN_NO_TASK = MessageType(
    "UQ434",
    "group-field-in-no-task",
    "error",
    "No task has a field {field!r} to divide its questions into groups.{known:nearest {field}} Available fields: "
    "{fields}.",
    "The option `--by FIELD` divides the questions into groups by a field of the questions' documents or metadata. "
    "Tasks of the same run can have different fields, and the message lists the tasks that have each set of fields.",
    "Use one of the available fields. `harness-uq structure` lists the fields of each task.",
)
GROUPS_WITH_ANY_SCORE = MessageType(
    "UQ435",
    "groups-with-any-score",
    "note",
    "The intervals and verdicts of groups allow any score of the {n_missing:count trial} without a score. No pooled "
    "estimates and no test of equal differences are available.",
    "With `--missing bounds`, the data determine the difference of a group only up to a range. Pooled estimates and "
    "the test of equal differences require one value for each group.",
    "For pooled estimates, use `--missing drop` or `--missing zero`.",
)

TYPES = message_types_in(globals())
