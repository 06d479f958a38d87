"""Messages about the command line, settings and internal errors: UQ900 to UQ999."""

from harness_uq.messages.message import MessageType, message_types_in

INTERNAL_ERROR = MessageType(
    "UQ901",
    "internal-error",
    "error",
    "Internal error: {error:sentence} Run the command again with --debug to see the traceback, and please report the "
    "error.",
    "The failure is a defect of harness_uq or of a plugin.",
    "Run `harness-uq --debug COMMAND …` and report the traceback.",
)
USAGE = MessageType(
    "UQ902",
    "usage",
    "error",
    "{reason:sentence}",
    "The arguments contradict each other, or one of them names something that does not exist.",
    "See `harness-uq COMMAND --help`.",
)
INVALID_VALUE = MessageType(
    "UQ904",
    "invalid-value",
    "error",
    "{reason:sentence}",
    "A value has the wrong shape, type or range.",
    "Correct the value.",
)
MISSING_DEPENDENCY = MessageType(
    "UQ905",
    "missing-dependency",
    "error",
    "{reason:sentence}",
    "An optional package is not installed.",
    "Install the package that the message names.",
)
OPERATION_FAILED = MessageType(
    "UQ907",
    "operation-failed",
    "error",
    "{reason:sentence}",
    "The command could not do what was asked.",
    "See the reason.",
)
NOT_IGNORABLE = MessageType(
    "UQ908",
    "not-ignorable",
    "error",
    "The message {code} {name} cannot be ignored because its severity is '{severity}'. Only notes and warnings can "
    "be ignored.",
    "A refusal is the reason why there is no result, and an error needs attention.",
    "Remove it from `--ignore` or from `ignore` in the settings file.",
)
UNKNOWN_MESSAGE = MessageType(
    "UQ909",
    "unknown-message",
    "error",
    'No message has the code or name {label!r}.{suggestion} The page "Messages" of the documentation lists all codes.',
    "`--ignore` takes codes such as `UQ104` and names such as `few-clusters`.",
    "Check the spelling.",
)
SETTINGS_USED = MessageType(
    "UQ910",
    "settings-used",
    "note",
    "The settings in {path} apply to this gate.",
    "A settings file can change clusters, ranges and margins, and with them the decision.",
    "Check the file if the runs come from a checkout of others, or ignore it with `--isolated`.",
)

TYPES = message_types_in(globals())
