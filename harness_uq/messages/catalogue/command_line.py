"""Messages about the command line, settings and internal errors: UQ900 to UQ999."""

from harness_uq.messages.message import MessageType, message_types_in

INTERNAL_ERROR = MessageType.error(
    "UQ901",
    "Internal error: {error:sentence} Run the command again with --debug to see the traceback, and please report the "
    "error.",
    "harness_uq or a plugin contains a defect.",
    "Run `harness-uq --debug COMMAND …` to see the traceback, and report the error together with the traceback.",
)
USAGE = MessageType.error(
    "UQ902",
    "{reason:sentence}",
    "Two arguments of the command contradict each other, or an argument names something that does not exist.",
    "Correct the arguments. `harness-uq COMMAND --help` explains all options.",
)
INVALID_VALUE = MessageType.error(
    "UQ904",
    "{reason:sentence}",
    "The value of an option, or a value in a file, has the wrong format, type or range. The message names the value.",
    "Correct the value that the message names.",
)
MISSING_DEPENDENCY = MessageType.error(
    "UQ905",
    "{reason:sentence}",
    "The command requires an optional package that is not installed.",
    "Install the package that the message names.",
)
OPERATION_FAILED = MessageType.error(
    "UQ907",
    "{reason:sentence}",
    "The command could not be completed. The message contains the reason.",
    "Fix the problem that the message describes, and run the command again.",
)
NOT_IGNORABLE = MessageType.error(
    "UQ908",
    "The message {code} {name} cannot be ignored because its severity is '{severity}'. Only notes and warnings can "
    "be ignored.",
    "Messages with the severity `refusal` state why a result is missing, and messages with the severity `error` "
    "report a failure. You cannot hide messages with the severity `refusal` or `error`.",
    "Remove the code or name of the message from the option `--ignore`, or from `ignore` in the settings file.",
)
UNKNOWN_MESSAGE = MessageType.error(
    "UQ909",
    "No message has the code or name {label!r}.{suggestion} Outputs print the codes and names of their messages with "
    "--notes.",
    "The option `--ignore` accepts the code of a message, such as `UQ104`, or its name, such as `few-clusters`.",
    "Check the spelling of the message code or message name.",
)
SETTINGS_USED = MessageType.note(
    "UQ910",
    "The settings in {path} apply to this gate.",
    "A settings file can define clusters, ranges of metrics and margins. The settings can change the decision of "
    "`harness-uq gate`.",
    "If other people can change the settings file, for example in a pull request, check its contents. With the option "
    "`--isolated`, the command ignores settings files.",
)
NOTHING_ESTIMABLE = MessageType.error(
    "UQ911",
    "No interval can be computed with {options:join}. The most common reason is: {reason:sentence}",
    "The options request a method, a scope or an estimand that the data do not support for any of the selected scores. "
    "The command ends with exit code 1. If only some of the scores are not estimable, the exit code is 0, and a "
    "warning states the reason for each of these scores.",
    "Remove the options that the message names, or choose a method, a scope or an estimand that the data support.",
)

TYPES = message_types_in(globals())
