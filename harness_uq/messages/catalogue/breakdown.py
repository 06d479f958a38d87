"""Messages about scores by groups of questions: UQ430 to UQ439."""

from harness_uq.messages.message import MessageType, message_types_in

UNKNOWN_GROUP_FIELD = MessageType(
    "UQ430",
    "unknown-group-field",
    "error",
    "Task {task!r} has no field {field!r} to divide its questions into groups. Available fields: {known:join}.",
    "A breakdown uses a field of the questions' documents or metadata.",
    "Use one of the available fields. `harness-uq structure` lists them.",
)
TOO_MANY_GROUPS = MessageType(
    "UQ431",
    "too-many-groups",
    "error",
    "Field {field!r} of task {task!r} has {n_values:count value}, which are too many or too long to be groups. At most "
    "{most} groups are possible.",
    "Numbers are divided into ranges, but texts need one group each.",
    "Use a field with fewer values.",
)
GROUPS_NOT_POOLED = MessageType(
    "UQ432",
    "groups-not-pooled",
    "note",
    "No pooled estimates are available, because only {n_groups:count group} {n_groups:plural has|have} an interval.",
    "Partial pooling requires at least three groups with an interval.",
    "No action is required.",
)
FIELD_MISSING_IN_TASKS = MessageType(
    "UQ433",
    "group-field-missing",
    "note",
    "{n_tasks:count task} {n_tasks:plural has|have} no field {field!r} and {n_tasks:plural is|are} not divided into "
    "groups: {tasks:join}.",
    "Tasks of one run may have different fields.",
    "No action is required.",
)

TYPES = message_types_in(globals())
