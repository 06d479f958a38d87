"""Messages about stores and backends for many logs: UQ600 to UQ699."""

from harness_uq.messages.message import MessageType, message_types_in

STORE_EMPTY = MessageType.error(
    "UQ601",
    "The store {store} contains no task logs. Fill the store with `harness-uq estimate LOGS --store {store}`.",
    "A store is a folder that keeps logs and results between commands.",
    "Fill the store with `harness-uq estimate LOGS --store STORE`, or check the path of the store.",
)
STORE_UNUSABLE = MessageType.error(
    "UQ602",
    "The store {store} cannot be {action}: {reason:sentence}",
    "The operating system or the remote storage did not allow access to the store.",
    "Check that the folder exists and that you have permission to write to it.",
)
STORE_FILE_DAMAGED = MessageType.warning(
    "UQ603",
    "A file in the store cannot be read, so the original logs are read again. The error was: {reason:sentence}",
    "A file in the store is damaged or was written by another version of harness_uq. The results are complete, "
    "because harness_uq read the original logs instead of the damaged file.",
    "Remove damaged files with `harness-uq store gc STORE`.",
)
STORE_ROW_DAMAGED = MessageType.error(
    "UQ604",
    "A row in the store cannot be decoded: {reason:sentence}",
    "A row of a file in the store is damaged or was written by another version of harness_uq.",
    "Run `harness-uq store gc STORE`, and fill the store again with `harness-uq estimate LOGS --store STORE`.",
)
WORKER_DIED = MessageType.error(
    "UQ605",
    "The worker process that was reading {logs} ended unexpectedly: {reason:sentence}",
    "A worker process usually ends unexpectedly because the machine has too little memory. The results do not contain "
    "the logs that the worker process was reading when it ended.",
    "Run the command again with fewer worker processes (`--jobs N`).",
)
SCHEDULER_LOST = MessageType.error(
    "UQ606",
    "The connection to the Dask scheduler was lost, so processes on this machine completed the remaining work.",
    "The results are complete. After the connection to the Dask scheduler was lost, the computation continued on this "
    "machine without the Dask cluster.",
    "Check whether the Dask scheduler is still running.",
)
SCHEDULER_UNREACHABLE = MessageType.error(
    "UQ607",
    "No Dask scheduler responds at {address}: {reason:sentence}",
    "The option `--scheduler` must contain the address of a running Dask scheduler.",
    "Check the address. To compute on this machine, omit `--engine dask`.",
)
WORKER_REPLACED = MessageType.error(
    "UQ608",
    "The worker process that was reading {logs} ended unexpectedly, and another process repeated its work. The error "
    "was: {reason:sentence}",
    "The results are complete. A worker process usually ends unexpectedly because the machine has too little memory.",
    "Use fewer worker processes (`--jobs N`), so that each process has more memory.",
)
STORED_FILE_UNREADABLE = MessageType.error(
    "UQ609",
    "The file {path} in the store cannot be read, so the original logs are read again. The error was: "
    "{reason:sentence}",
    "The results are complete, because harness_uq read the original logs again.",
    "Remove damaged files with `harness-uq store gc STORE`.",
)
RUN_NOT_STORED = MessageType.warning(
    "UQ610",
    "The results of this run are not stored, because the name of its system contains a secret.",
    "A store never contains secrets such as API keys. If secrets were removed from names, two systems in a store "
    "could have the same name. If the name of a system contains a secret, each command reads the log again instead of "
    "using the store.",
    "Pass the secret to the harness in an environment variable, so that the log does not contain the secret.",
)

TYPES = message_types_in(globals())
