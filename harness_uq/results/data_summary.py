"""What can be done with the data under some paths, and what they lack, as a result."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness_uq.messages import Message
from harness_uq.results.declaration import Declared


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command that these data support.

    Attributes
    ----------
    purpose : what the command does
    command : the command line
    """

    purpose: str
    command: str


@dataclass(frozen=True, slots=True)
class UnrecognizedFile:
    """A file from which nothing was read, and the reason."""

    path: str
    message: Message


@dataclass(frozen=True, slots=True)
class DataSummary(Declared):
    """What can be done with the data under some paths, and what they lack for more.

    Attributes
    ----------
    n_systems, n_tasks, n_questions, n_scores : systems, tasks, different questions, and scored trials of all systems
    is_identified : whether the questions and trials of all tasks are identified
    commands : commands for these data, the most useful first
    missing : what further analyses require
    breakdown_fields : fields of the questions with few values, by which scores can be broken down, by task
    unrecognized : files from which nothing was read, with the reason; the first ones if there are many
    n_unrecognized : number of these files
    """

    n_systems: int
    n_tasks: int
    n_questions: int
    n_scores: int
    is_identified: bool
    commands: tuple[NextCommand, ...] = ()
    missing: tuple[Message, ...] = ()
    breakdown_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unrecognized: tuple[UnrecognizedFile, ...] = ()
    n_unrecognized: int = 0
