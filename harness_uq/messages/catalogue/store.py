"""Messages about stores and backends for many logs: UQ600 to UQ699."""

from harness_uq.messages.message import MessageType, message_types_in

STORE_EMPTY = MessageType(
    "UQ601",
    "store-empty",
    "error",
    "The store {store} contains no task logs. Fill the store with `harness-uq estimate LOGS --store {store}`.",
    "A store keeps logs and results between commands.",
    "Fill the store, or check its path.",
)
STORE_UNUSABLE = MessageType(
    "UQ602",
    "store-unusable",
    "error",
    "The store {store} cannot be {action} for the following reason: {reason:sentence}",
    "The operating system or the store refused the operation.",
    "Check that the folder exists and that you may write to it.",
)
STORE_FILE_DAMAGED = MessageType(
    "UQ603",
    "store-file-damaged",
    "warning",
    "A file in the store cannot be read, so the original logs are read again. The error was: {reason:sentence}",
    "The file is damaged or was written by another version.",
    "Run `harness-uq store gc STORE` to remove such files.",
)
STORE_ROW_DAMAGED = MessageType(
    "UQ604",
    "store-row-damaged",
    "error",
    "A row in the store cannot be decoded for the following reason: {reason:sentence}",
    "The row is damaged or was written by another version.",
    "Run `harness-uq store gc STORE` and fill the store again.",
)
WORKER_DIED = MessageType(
    "UQ605",
    "worker-died",
    "error",
    "The worker process that was reading {logs} died with this error: {reason:sentence}",
    "A worker process usually dies because the machine runs out of memory.",
    "Use fewer workers with `--jobs`.",
)
SCHEDULER_LOST = MessageType(
    "UQ606",
    "scheduler-lost",
    "error",
    "The connection to the Dask scheduler was lost, so processes on this machine completed the remaining work.",
    "The results are complete.",
    "Check the scheduler.",
)
SCHEDULER_UNREACHABLE = MessageType(
    "UQ607",
    "scheduler-unreachable",
    "error",
    "No Dask scheduler responds at {address}. The error was: {reason:sentence}",
    "`--scheduler` names the address of a running scheduler.",
    "Check the address, or leave out `--engine dask`.",
)
WORKER_REPLACED = MessageType(
    "UQ608",
    "worker-replaced",
    "error",
    "The worker process that was reading {logs} died, and another process repeated its work. The error was: "
    "{reason:sentence}",
    "The results are complete. A worker process usually dies because the machine runs out of memory.",
    "Use fewer workers with `--jobs`.",
)
STORED_FILE_UNREADABLE = MessageType(
    "UQ609",
    "stored-file-unreadable",
    "error",
    "The file {path} in the store cannot be read, so the original logs are read again. The error was: "
    "{reason:sentence}",
    "The results are complete, because the logs were read again.",
    "Run `harness-uq store gc STORE` to remove damaged files.",
)
RUN_NOT_STORED = MessageType(
    "UQ610",
    "run-not-stored",
    "warning",
    "The results of this run are not stored, because the name of its system contains a secret.",
    "A store contains no secrets, and without them it cannot distinguish systems that differ only in a secret. Each "
    "command reads the run again.",
    "Give the secret to the harness in an environment variable, so that the log does not contain it.",
)

TYPES = message_types_in(globals())
