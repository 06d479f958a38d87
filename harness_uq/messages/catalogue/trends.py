"""Messages about scores over time: UQ590 to UQ599."""

from harness_uq.messages.message import MessageType, message_types_in

ONE_RUN = MessageType(
    "UQ590",
    "one-run",
    "refusal",
    "There is only one run of this system and task. A history requires at least two runs.",
    "A history compares several runs of the same system and task.",
    "Give the logs of several runs. If the system has different names in the logs, pass each log as NAME=LOG with "
    "the same name.",
)
FEW_RUNS = MessageType(
    "UQ591",
    "few-runs",
    "note",
    "With only {n_runs:count run}, a change of the score can hardly be distinguished from the variation between "
    "runs. At least {enough} runs are useful.",
    "To detect a change of the score, harness_uq needs several runs before the change, from which it estimates the "
    "usual variation between runs.",
    "No action is required. Add runs to the history when they are available.",
)
RUNS_WITHOUT_TIME = MessageType(
    "UQ592",
    "runs-without-time",
    "note",
    "{n_runs:count log contains|logs contain} no time, so their runs come first, in the order of the arguments. "
    "Check the order of the runs.",
    "A history orders runs by the times in their logs. Tables of scores contain no times.",
    "Pass logs without a time in the order in which they were run.",
)

TYPES = message_types_in(globals())
