"""Messages about logs, tables and data: UQ300 to UQ399."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- files and folders

LOG_UNREADABLE = MessageType(
    "UQ301",
    "log-unreadable",
    "error",
    "{reason:sentence}",
    "The file cannot be read, or is not a log that the reader knows. Other files are not affected.",
    "Check the file with the tool that wrote it.",
)
FILE_UNREADABLE = MessageType(
    "UQ302",
    "file-unreadable",
    "error",
    "The file cannot be read: {reason:sentence}",
    "The operating system or the store refused to read the file.",
    "Check that the path exists and that you may read it.",
)
FILE_EMPTY = MessageType(
    "UQ303",
    "file-empty",
    "error",
    "The file is empty.",
    "A run that was killed can leave an empty log.",
    "Run the evaluation again, or delete the file.",
)
INVALID_JSON = MessageType(
    "UQ304",
    "invalid-json",
    "error",
    "The file is not valid JSON, perhaps because it is incomplete. The parser reported: {reason:sentence}",
    "A run that was killed while it wrote its log leaves an incomplete file.",
    "Run the evaluation again, or copy the file again.",
)
PATH_MISSING = MessageType(
    "UQ305",
    "path-missing",
    "error",
    "No such file or folder.",
    "The path does not exist.",
    "Check the spelling of the path.",
)
PATTERN_WITHOUT_MATCH = MessageType(
    "UQ306",
    "pattern-without-match",
    "error",
    "No file matches this pattern.",
    "The pattern was not expanded by the shell, and no file matches it.",
    "Check the pattern with `ls`.",
)
FOLDER_EMPTY = MessageType(
    "UQ307",
    "folder-empty",
    "error",
    "The folder is empty.",
    "Folders are searched for logs of all known harnesses.",
    "Check the path.",
)
OBJECT_MISSING = MessageType(
    "UQ308",
    "object-missing",
    "error",
    "The store contains no object with this path or below it.",
    "The store has no object whose name begins with this path.",
    "Check the bucket and the path.",
)
NOT_A_REGULAR_FILE = MessageType(
    "UQ309",
    "not-a-regular-file",
    "error",
    "This is not a regular file. Named pipes (FIFOs), sockets and devices are not opened.",
    "Reading such a file could block.",
    "Pass a file or a folder.",
)
NO_LOG_IN_FOLDER = MessageType(
    "UQ310",
    "no-log-in-folder",
    "error",
    "The folder contains {n_files:count file}, but no log of a known harness ({harnesses:join}).",
    "Logs are recognized by their content.",
    "Check the path. `harness-uq plugins` lists the readers that are installed.",
)
NOT_A_LOG = MessageType(
    "UQ311",
    "not-a-log",
    "error",
    "The file is not a log of any known harness ({harnesses:join}).",
    "Logs are recognized by their content.",
    "Check the path. `harness-uq plugins` lists the readers that are installed.",
)
NOT_A_TABLE = MessageType(
    "UQ312",
    "not-a-table",
    "error",
    "The file is neither a log of a known harness nor a readable table of scores: {reason:sentence}",
    "CSV, TSV, JSON Lines and Parquet files can be read as tables of scores.",
    "Name the columns with `--column ROLE=NAME`.",
)
FILE_CLAIMED_TWICE = MessageType(
    "UQ313",
    "file-claimed-twice",
    "error",
    "The file {path!r} is recognized as a log of two harnesses: {first} and {second}. Uninstall one of the two "
    "plugins.",
    "A file must belong to one reader.",
    "Uninstall one of the two plugins.",
)
READER_FAILED = MessageType(
    "UQ314",
    "reader-failed",
    "error",
    "The reader for {harness} failed with an unexpected error: {error:sentence} Please report this error.",
    "The failure is a defect of the reader. Other harnesses are not affected.",
    "Run again with `harness-uq --debug` to see the traceback, and report it.",
)
TASK_WITHOUT_SCORES = MessageType(
    "UQ315",
    "task-without-scores",
    "warning",
    "Task {task!r} is left out, because its log contains no scores.",
    "The run was not scored, or its samples were not logged.",
    "Score the run, or log the samples.",
)
TASK_LEFT_OUT = MessageType(
    "UQ316",
    "task-left-out",
    "warning",
    "Task {task!r} is left out for the following reason: {reason:sentence}",
    "No score of the task could be read.",
    "See the reason.",
)
NO_SUCH_SELECTION = MessageType(
    "UQ318",
    "no-such-selection",
    "error",
    "No {kind} matches {pattern!r}.{known:nearest {pattern}} Available {kind}s: {known:join}.",
    "`--task`, `--metric`, `--filter` and `--model` select parts of the logs by name or pattern.",
    "Use one of the names listed.",
)
UNKNOWN_SETTING_OF_LOGS = MessageType(
    "UQ319",
    "unknown-setting-of-logs",
    "error",
    "No log has the setting {field!r}.{known:nearest {field}} Available settings: {known:join}.",
    "A factor is a setting that differs between the logs.",
    "Use one of the settings listed.",
)
CONSTANT_FACTOR = MessageType(
    "UQ320",
    "constant-factor",
    "error",
    "The setting {field!r} has the value {value!r} in all {n_logs} logs, so it cannot be used as a factor.",
    "A factor is a setting that differs between the logs.",
    "Add logs with another value.",
)
PATH_UNREADABLE = MessageType(
    "UQ321",
    "path-unreadable",
    "error",
    "{path} cannot be read: {reason:sentence}",
    "The operating system or the store refused to read the file, or it is not text.",
    "Check that the path exists and that you may read it.",
)
PATHS_UNREADABLE = MessageType(
    "UQ322",
    "paths-unreadable",
    "error",
    "{reasons:sentence}",
    "Several of the paths contain no log that can be read.",
    "See the reason for each path.",
)
TASKS_WITHOUT_SCORES = MessageType(
    "UQ323",
    "tasks-without-scores",
    "warning",
    "The tasks {tasks:join} are left out, because their logs contain no scores.",
    "The run was not scored, or its samples were not logged.",
    "Score the run, or log the samples.",
)
EARLIER_ATTEMPT = MessageType(
    "UQ324",
    "earlier-attempt",
    "warning",
    "This log with {n_trials:count scored trial} is left out, because a later attempt at the same run continues it: "
    "{continued_in}.",
    "A retry copies the finished samples of the earlier attempt into its own log. If both logs counted as runs, the "
    "copied samples would count twice.",
    "No action is needed. To analyze the earlier attempt, pass its log alone.",
)
COPIED_LOG = MessageType(
    "UQ325",
    "copied-log",
    "warning",
    "This log with {n_trials:count scored trial} is left out, because another log contains the same scores of the same "
    "run: {kept}.",
    "A log that was copied or converted, or to which intervals were added, contains the samples of the original. If "
    "both logs counted as runs, the samples would count twice.",
    "No action is needed. To analyze the other log, pass it alone.",
)

# ---------------------------------------------------------------- tables

REPEATED_ROWS_AS_TRIALS = MessageType(
    "UQ331",
    "repeated-rows-as-trials",
    "note",
    "Some questions occur in several rows of the table. Rows with the same system, task and question count as "
    "repeated trials.",
    "Rows with the same system, task and question are trials of that question.",
    "Add a column that distinguishes the rows if they are different questions.",
)
COLUMN_NOT_FOUND = MessageType(
    "UQ332",
    "column-not-found",
    "error",
    "The table has no column {column!r} for the {role}.{suggestion} Available columns: {known}.",
    "`--column ROLE=NAME` names a column of the table.",
    "Use one of the columns listed.",
)
COLUMN_ROLE_UNFILLED = MessageType(
    "UQ333",
    "column-role-unfilled",
    "error",
    "No column of the table is recognized as the {role}. Specify the column with --column {role}=NAME. Available "
    "columns: {known}.",
    "Columns are recognized by common names such as `score`, `model` and `task`.",
    "Name the column.",
)
COLUMN_IDENTIFIES_ROWS = MessageType(
    "UQ334",
    "column-identifies-rows",
    "error",
    "Column {column!r} contains a unique identifier in each row, such as {example!r}, and cannot identify questions. "
    "Use --column question=NAME to specify the column that identifies the questions. Available columns: {known}.",
    "Identifiers of rows differ between trials and systems, so that trials would count as independent questions and "
    "systems would not be compared question by question.",
    "Name the column that has the same value in all rows of a question.",
)
EXPANDS_TOO_MUCH = MessageType(
    "UQ335",
    "expands-too-much",
    "error",
    "{name} would expand from {n_bytes:,} to {n_expanded:,} bytes, more than {factor:g}-fold. Set {variable} to a "
    "larger factor to read it.",
    "A small file can expand to more than the memory of the machine, so the sizes are limited.",
    "Set the variable if you trust the log.",
)
TOO_MANY_CELLS = MessageType(
    "UQ336",
    "too-many-cells",
    "error",
    "There are {n_columns:,} columns and {n_rows:,} rows or more. At most {most_cells:,} cells and "
    "{most_columns:,} columns are read, unless the environment variable {variable} allows more cells.",
    "A small file can contain a table larger than the memory of the machine, so the number of cells is limited. "
    "For logs, columns are the scores of a sample.",
    "Keep only the columns with scores and labels, split the table, or set the variable.",
)
LINK_LEADS_OUTSIDE = MessageType(
    "UQ337",
    "link-leads-outside",
    "error",
    "A link leads from the folder {folder} to {target}. Use --follow-links to change the file there.",
    "Folders of others can contain links to your files, so `rescore --in-place` and `restore` do not follow them.",
    "Use the option if you trust the folder, or give the folder in which the file is.",
)
OUTPUT_LINK_LEADS_OUTSIDE = MessageType(
    "UQ338",
    "output-link-leads-outside",
    "error",
    "A link in the output folder {folder} leads to {target}, so nothing is written there.",
    "Folders of others can contain links to your files.",
    "Choose another output folder, or delete the link.",
)
RESEMBLES_FORMAT = MessageType(
    "UQ339",
    "resembles-format",
    "error",
    "The file looks like {format}, but {reason:sentence}",
    "No reader accepts the file. Its members were compared with those of known formats to find the most similar one.",
    "Check the file with the tool that wrote it, and `harness-uq plugins` for the readers that are installed. For "
    "other JSON files, describe the scores in a mapping: `harness-uq structure FILE --suggest-mapping`.",
)
MAPPING_MATCHES_NOTHING = MessageType(
    "UQ340",
    "mapping-matches-nothing",
    "error",
    "The expression {expression!r} for {role} in [tables.{table}] matches nothing in the file.",
    "A mapping in the settings file names the values of the file by JMESPath expressions.",
    "Correct the expression. `harness-uq structure FILE --suggest-mapping` prints expressions that match.",
)
MAPPING_NEEDS_ROWS = MessageType(
    "UQ341",
    "mapping-needs-rows",
    "error",
    "The file contains one JSON object. Add `rows` to [tables.{table}], an expression for its list of records.",
    "Expressions of a mapping are evaluated for each record of a list.",
    'Add the expression, such as `rows = "results"`.',
)
MAPPING_NOT_SUGGESTED = MessageType(
    "UQ342",
    "mapping-not-suggested",
    "error",
    "The file has no records from which a mapping of columns can be inferred. Pass a CSV or JSON Lines file, or a JSON "
    "file that contains a list of objects.",
    "A mapping is inferred from the names of the members of records.",
    "For Parquet files, name the columns with `--column ROLE=NAME`.",
)

TYPES = message_types_in(globals())
