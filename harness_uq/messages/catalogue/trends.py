"""Messages about scores over time: UQ590 to UQ599."""

from harness_uq.messages.message import MessageType, message_types_in

ONE_RUN = MessageType(
    "UQ590",
    "one-run",
    "refusal",
    "There is only one run of this system and task. A history requires at least two.",
    "Runs of one system are compared with each other.",
    "Give the logs of several runs. If the name of the system differs between them, unify it with NAME=LOG.",
)
FEW_RUNS = MessageType(
    "UQ591",
    "few-runs",
    "note",
    "With {n_runs:count run}, a change can hardly be distinguished from the variation between runs. At least {enough} "
    "runs are useful.",
    "The variation between runs is estimated from the runs before a change.",
    "No action is required. Add runs as they become available.",
)
RUNS_WITHOUT_TIME = MessageType(
    "UQ592",
    "runs-without-time",
    "note",
    "{n_runs:count log has|logs have} no time, so their runs come first, in the order of the arguments. Check the "
    "order.",
    "Runs are ordered by the times in their logs, and tables contain none.",
    "Give the logs in the order of their runs.",
)

TYPES = message_types_in(globals())
