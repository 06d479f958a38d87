"""Messages about scores by groups of questions: UQ430 to UQ439."""

from harness_uq.messages.message import MessageType, message_types_in

UNKNOWN_GROUP_FIELD = MessageType.error(
    "UQ430",
    "Task {task!r} has no field {field!r} by which its questions can be grouped. Available fields: {known:join}.",
    "The option `--by FIELD` groups the questions of a task by a field in the documents or metadata of the questions, "
    "such as `subject`.",
    "Use one of the available fields. The command `harness-uq structure` lists the available fields of each task.",
)
TOO_MANY_GROUPS = MessageType.error(
    "UQ431",
    "Field {field!r} of task {task!r} has {n_values:count value}, which are too many or too long to form groups. At "
    "most {most} groups are possible.",
    "The option `--by FIELD` creates one group of questions for each distinct text in the field. If the field "
    "contains many different numbers, each group is a range of these numbers.",
    "Use a field with fewer distinct values.",
)
GROUPS_NOT_POOLED = MessageType.note(
    "UQ432",
    "No pooled estimates are available, because only {n_groups:count group} {n_groups:plural has|have} an interval.",
    "Pooled estimates combine the information of all groups of questions, and require at least three groups whose "
    "scores have an interval.",
)
FIELD_MISSING_IN_TASKS = MessageType.note(
    "UQ433",
    "{n_tasks:count task} {n_tasks:plural has|have} no field {field!r}, so the questions of {tasks:join} are not "
    "divided into groups.",
    "Tasks of the same run can record different fields for their questions, and only tasks with the requested field "
    "are divided into groups.",
    "No action is required.",
    name="group-field-missing",
)
GROUP_FIELD_IN_NO_TASK = MessageType.error(
    "UQ434",
    "No task has a field {field!r} by which its questions can be grouped.{known:nearest {field}} Available fields: "
    "{fields}.",
    "The option `--by FIELD` groups the questions of each task by a field, such as `subject`, of the questions' "
    "documents or metadata. Tasks of the same run can have different fields, so the message lists the tasks for each "
    "set of available fields.",
    "Use one of the available fields. The command `harness-uq structure` lists the available fields of each task.",
)
GROUPS_WITH_ANY_SCORE = MessageType.note(
    "UQ435",
    "The intervals and verdicts of groups account for every possible score of the {n_missing:count trial} without a "
    "score. For this reason, there are no pooled estimates and no test of equal differences.",
    "With `--missing bounds`, the data determine only a range for the difference between two systems in a group of "
    "questions. Pooled estimates and the test of equal differences between groups require a single value for each "
    "group.",
    "To obtain pooled estimates, use `--missing drop` or `--missing zero`.",
)
GROUPS_OF_ONE_SYSTEM = MessageType.warning(
    "UQ436",
    "Only one of the two systems has questions with {n_groups:count value} of {field!r}, so {n_groups:plural this "
    "group is|these groups are} not compared: {groups:join}.",
    "A group of questions is compared only if the logs of both systems contain the value of the field that defines the "
    "group. The values can differ if the systems ran different questions, or different versions of the task.",
    "Check that both systems ran the same version of the task.",
)
GROUPS_ARE_CLUSTERS = MessageType.note(
    "UQ437",
    "Each group of {field!r} is one cluster of questions. A single cluster does not show how much clusters vary, so "
    "the interval of a group relies on a prior for this variation.",
    "If the field of `--by` is the field that defines the clusters, or a finer one, the questions of a group depend on "
    "each other, and the group contains one independent observation.",
    "Use a field whose groups contain several clusters.",
)

TYPES = message_types_in(globals())
