"""Read weights of tasks from a file."""

import csv
import json
from collections.abc import Mapping
from io import StringIO

from harness_uq.io.paths import read_bytes
from harness_uq.messages.errors import DataError, HarnessUqError
from harness_uq.messages.similar_names import did_you_mean
from harness_uq.options import WEIGHT_SCHEMES


def read_weights(path: str) -> dict[str, float]:
    """Read the weight of each task from a JSON object, or from a CSV file with the columns `task` and `weight`.

    `path`: file or URL; a file that ends in `.json` contains a JSON object. Raises DataError if the file cannot be
    read, or a weight is not a number.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except (HarnessUqError, OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"Weights could not be read: {path!r} ({error}). Give equal, questions (by number of questions), "
            f"group (as in their group), subtasks or a file.{did_you_mean(path, WEIGHT_SCHEMES)}"
        ) from error
    try:
        if path.endswith(".json"):
            pairs = json.loads(text)
        else:
            pairs = {row["task"]: row["weight"] for row in csv.DictReader(StringIO(text))}
        if not isinstance(pairs, Mapping):
            raise TypeError("not a JSON object")
        return {str(task): float(weight) for task, weight in pairs.items()}
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"Invalid weights in {path!r}: {error}. Give a JSON object of numbers by task, or a CSV file with the "
            "columns task and weight."
        ) from error
