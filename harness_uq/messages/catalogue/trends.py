"""Messages about scores over time: UQ590 to UQ599."""

from harness_uq.messages.message import MessageType, message_types_in

ONE_RUN = MessageType.refusal(
    "UQ590",
    "There is only one run of this system and task, but at least two are required to detect a change of the score. "
    "Pass runs of one system that have different names as NAME=LOG with the same NAME.",
    "To detect a change of the score, harness_uq compares several runs of the same system and task.",
    "Pass the logs of several runs. If the system has different names in the logs, pass each log as `NAME=LOG` with "
    "the same NAME.",
)
FEW_RUNS = MessageType.note(
    "UQ591",
    "With only {n_runs:count run}, a change of the score can hardly be distinguished from the variation between runs. "
    "At least {enough} runs are recommended.",
    "To detect a change of the score, harness_uq must first estimate the usual variation between runs, which requires "
    "several runs before the change.",
    "No action is required. Add runs to the history as soon as more runs are available.",
)
RUNS_WITHOUT_TIME = MessageType.note(
    "UQ592",
    "{n_runs:count log does|logs do} not record the time of the run, so {n_runs:plural this run comes|these runs "
    "come} first, in the order of the command-line arguments. Check the order of the runs.",
    "harness_uq orders the runs by the times that the logs record. Tables of scores do not record the time of a run.",
    "If logs do not record a time, pass them in the order in which the runs took place.",
)

TYPES = message_types_in(globals())
