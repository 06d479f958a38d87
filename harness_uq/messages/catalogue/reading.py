"""Messages about logs, tables and data: UQ300 to UQ399."""

from harness_uq.messages.message import MessageType, message_types_in

# ---------------------------------------------------------------- files and folders

LOG_UNREADABLE = MessageType.error(
    "UQ301",
    "{reason:sentence}",
    "harness_uq cannot read the file, or the file is not a log in a known format. Other files are not affected.",
    "Open the file with the tool that wrote it, and check whether the file is complete.",
)
FILE_UNREADABLE = MessageType.error(
    "UQ302",
    "The file cannot be read: {reason:sentence}",
    "The operating system or the remote storage did not allow access to the file, or the file is not a text file.",
    "Check that the path exists and that you have permission to read the file.",
)
FILE_EMPTY = MessageType.error(
    "UQ303",
    "The file is empty.",
    "An evaluation that was stopped can leave an empty log.",
    "Run the evaluation again, or delete the file.",
)
INVALID_JSON = MessageType.error(
    "UQ304",
    "The file is not valid JSON, perhaps because it is incomplete. The parser reported: {reason:sentence}",
    "If an evaluation is stopped while it writes its log, the log file is incomplete.",
    "Run the evaluation again. If the file was copied, copy the file again.",
)
PATH_MISSING = MessageType.error(
    "UQ305",
    "No such file or folder.",
    "The path that you specified on the command line does not exist.",
    "Check the spelling of the path.",
)
PATTERN_WITHOUT_MATCH = MessageType.error(
    "UQ306",
    "No file matches this pattern.",
    "The path contains a wildcard such as `*`, and no file has a matching name.",
    "Check the pattern, for example with `ls`.",
)
FOLDER_EMPTY = MessageType.error(
    "UQ307",
    "The folder is empty.",
    "The folder contains no files, so harness_uq finds no logs in the folder.",
    "Check the path of the folder.",
)
OBJECT_MISSING = MessageType.error(
    "UQ308",
    "The remote storage contains no object with this path or below this path.",
    "The bucket contains no object whose name begins with the path that you specified.",
    "Check the name of the bucket and the path of the logs.",
)
NOT_A_REGULAR_FILE = MessageType.error(
    "UQ309",
    "The path is not a regular file. Named pipes (FIFOs), sockets and devices are not opened.",
    "A program that reads from a named pipe, a socket or a device may wait forever.",
    "Pass a file or a folder.",
)
NO_LOG_IN_FOLDER = MessageType.error(
    "UQ310",
    "The folder contains {n_files:count file}, but no log of a known harness ({harnesses:join}).",
    "harness_uq recognizes logs by their content. The content of the files in the folder does not match any known log "
    "format.",
    "Check the path of the folder. `harness-uq plugins` lists the harnesses whose logs can be read.",
)
NOT_A_LOG = MessageType.error(
    "UQ311",
    "The file is not a log of any known harness ({harnesses:join}).",
    "harness_uq recognizes logs by their content. The content of the file does not match any known log format.",
    "Check the path of the file. `harness-uq plugins` lists the harnesses whose logs can be read.",
)
NOT_A_TABLE = MessageType.error(
    "UQ312",
    "The file is neither a log of a known harness nor a readable table of scores: {reason:sentence}",
    "harness_uq reads CSV, TSV, JSON Lines and Parquet files as tables of scores if it recognizes their columns.",
    "Name the columns of the table with `--column ROLE=NAME`, such as `--column score=correct`.",
)
FILE_CLAIMED_TWICE = MessageType.error(
    "UQ313",
    "The file {path!r} is recognized as a log of two harnesses: {first} and {second}. Uninstall one of the two "
    "plugins.",
    "Two installed plugins read the same format, so it is not clear which plugin should read the file.",
    "Uninstall one of the two plugins that the message names.",
)
READER_FAILED = MessageType.error(
    "UQ314",
    "The reader for {harness} failed with an unexpected error: {error:sentence} Please report this error to the "
    "authors of {package}.",
    "The code that reads logs of the named harness contains a bug. Logs of other harnesses are not affected.",
    "Run the command again with `harness-uq --debug` to see the traceback, and report the error to the authors of the "
    "package that the message names.",
)
TASK_LEFT_OUT = MessageType.warning(
    "UQ316",
    "Task {task!r} is left out: {reason:sentence}",
    "The log contains the task, but harness_uq could not read any score of the task.",
    "Fix the problem that the message names, or run the task again.",
)
NO_SUCH_SELECTION = MessageType.error(
    "UQ318",
    "No {kind} matches {pattern!r}.{known:nearest {pattern}|{kind}s}",
    "The options `--task`, `--metric`, `--filter` and `--model` select parts of the logs by name or pattern. No name "
    "in the logs matches the pattern that you specified.",
    "Use one of the names in the logs, which `harness-uq structure` lists.",
)
UNKNOWN_SETTING_OF_LOGS = MessageType.error(
    "UQ319",
    "No log has the setting {field!r}.{known:nearest {field}|settings}",
    "The option `--factor NAME=FIELD` requires a setting that the logs record, such as the seed.",
    "Use one of the settings that the message lists.",
)
CONSTANT_FACTOR = MessageType.error(
    "UQ320",
    "The setting {field!r} has the value {value!r} in all {n_logs} logs, so it cannot be used as a factor.",
    "The option `--factor NAME=FIELD` requires a setting that differs between the logs.",
    "Add logs in which the setting that you named in `--factor` has another value.",
)
PATHS_UNREADABLE = MessageType.error(
    "UQ322",
    "{reasons:sentence}",
    "None of the paths on the command line contains a log that can be read. The message states the reason for each "
    "path.",
    "Correct the paths, or fix the problem that the message states for each path.",
)
TASKS_WITHOUT_SCORES = MessageType.warning(
    "UQ323",
    "{n_tasks:plural Task|The tasks} {tasks:quote} {n_tasks:plural is|are} left out, because {n_tasks:plural its log "
    "contains|their logs contain} no scores.",
    "The runs were not scored, or their samples were not logged, so these tasks have no scores to analyze.",
    "Score the runs, or log the samples.",
)
EARLIER_ATTEMPT = MessageType.warning(
    "UQ324",
    "This log with {n_trials:count scored trial} is left out, because a later attempt of the same run contains its "
    "samples: {continued_in}.",
    "When Inspect AI retries a run, the new log also contains the finished samples of the earlier log. If harness_uq "
    "used both the earlier and the new log, the finished samples would count twice.",
    "No action is required. To analyze the earlier attempt, pass only the log of this attempt.",
)
COPIED_LOG = MessageType.warning(
    "UQ325",
    "This log with {n_trials:count scored trial} is left out, because another log contains the same scores of the same "
    "run: {kept}.",
    "A log and its copy contain the same samples, even if the copy was converted to another format or contains "
    "additional intervals. If harness_uq used both the log and its copy, the samples would count twice.",
    "No action is required. To analyze the log that was left out, pass only this log.",
)

# ---------------------------------------------------------------- tables

REPEATED_ROWS_AS_TRIALS = MessageType.note(
    "UQ331",
    "Some questions occur in several rows of the table. Rows with the same system, task and question count as "
    "repeated trials.",
    "If several rows of a table have the same system, task and question, harness_uq reads these rows as trials of "
    "the question.",
    "If the rows belong to different questions, add a column that distinguishes the questions, and specify this "
    "column with `--column question=NAME`.",
)
COLUMN_NOT_FOUND = MessageType.error(
    "UQ332",
    "The table has no column {column!r} for the {role}.{known:nearest {column}|columns}",
    "The option `--column ROLE=NAME` assigns a role, such as `score`, to the column NAME of a table. The table has no "
    "column with the name that you specified.",
    "Use one of the columns of the table.",
)
COLUMN_ROLE_UNFILLED = MessageType.error(
    "UQ333",
    "No column of the table is recognized as the {role}. Specify the column with --column {role}=NAME. Available "
    "columns: {known}.",
    "harness_uq recognizes columns by common names such as `score`, `model` and `task`.",
    "Name the column with `--column ROLE=NAME`, such as `--column score=correct`.",
)
COLUMN_IDENTIFIES_ROWS = MessageType.error(
    "UQ334",
    "Column {column!r} contains a unique identifier in each row, such as {example!r}, and cannot identify questions. "
    "Use --column question=NAME to specify the column that identifies the questions. Available columns: {known}.",
    "If every row had its own question identifier, repeated trials would count as independent questions, and two "
    "systems would have no questions in common.",
    "With `--column question=NAME`, specify a column whose value is the same in all rows of a question.",
)
EXPANDS_TOO_MUCH = MessageType.error(
    "UQ335",
    "The compressed file {name} would expand from {n_bytes:,} to {n_expanded:,} bytes, which is more than "
    "{factor:g}-fold. To read the file, set the environment variable {variable} to a larger factor.",
    "A small compressed file can expand to more data than fit into memory, so harness_uq limits the factor by which a "
    "file can expand.",
    "If you trust the file, increase the limit with the environment variable that the message names.",
)
TOO_MANY_CELLS = MessageType.error(
    "UQ336",
    "The file contains at least {n_columns:,} columns and {n_rows:,} rows. harness_uq reads at most {most_cells:,} "
    "cells and {most_columns:,} columns, unless the environment variable {variable} allows more cells.",
    "A small compressed file can contain a table that does not fit into memory, so harness_uq limits the number of "
    "cells. If the file is a log, the samples count as rows, and the scores of each sample count as columns.",
    "Keep only the columns with scores and labels, or split the table. If you trust the file, increase the limit with "
    "the environment variable that the message names.",
)
LINK_LEADS_OUTSIDE = MessageType.error(
    "UQ337",
    "A link in the folder {folder} points to the file {target} outside the folder. Use --follow-links to change this "
    "file.",
    "A folder that you received from other people can contain links to your own files. By default, `rescore "
    "--in-place` and `restore` do not change files through links that point outside the folder.",
    "If you trust the folder, use `--follow-links`. If you do not trust the folder, pass the folder that contains the "
    "target of the link instead.",
)
OUTPUT_LINK_LEADS_OUTSIDE = MessageType.error(
    "UQ338",
    "A link in the output folder {folder} points to {target}, so harness_uq does not write through this link.",
    "A folder that you received from other people can contain links to your own files. Writing results through a link "
    "would overwrite the file to which the link points.",
    "Choose another output folder, or delete the link from the output folder.",
)
RESEMBLES_FORMAT = MessageType.error(
    "UQ339",
    "The file looks like {format}, but {reason:sentence}",
    "The content of the file resembles a known format, but the file does not conform to this format.",
    "Check whether the tool that wrote the file can still open the file. `harness-uq plugins` lists the formats that "
    "harness_uq can read. For a JSON file in another format, `harness-uq structure FILE --suggest-mapping` suggests a "
    "mapping that describes where the scores are.",
)
MAPPING_MATCHES_NOTHING = MessageType.error(
    "UQ340",
    "The expression {expression!r} for {role} in [tables.{table}] of the settings file matches nothing in this file.",
    "A mapping in the settings file describes where a JSON file contains the scores. Each value in a mapping is a "
    "JMESPath expression.",
    "Correct the expression in the mapping. `harness-uq structure FILE --suggest-mapping` prints expressions that "
    "match the file.",
)
MAPPING_NEEDS_ROWS = MessageType.error(
    "UQ341",
    "The file contains a single JSON object. In [tables.{table}] of the settings file, set 'rows' to an expression "
    "that selects the list of records in this object.",
    "A mapping selects values from each record in a list of records. If the file contains a single JSON object, the "
    "key `rows` of the mapping must state where the list of records is.",
    'Add the key `rows` to the mapping in the settings file, such as `rows = "results"`.',
)
MAPPING_NOT_SUGGESTED = MessageType.error(
    "UQ342",
    "The file has no records from which a mapping of columns can be inferred. Pass a CSV or JSON Lines file, or a JSON "
    "file that contains a list of objects.",
    "`--suggest-mapping` requires a list of records (JSON objects), because it derives the mapping from the names of "
    "the fields in the records.",
    "Pass a file with a list of records. For Parquet files, name the columns with `--column ROLE=NAME`.",
)

TYPES = message_types_in(globals())
