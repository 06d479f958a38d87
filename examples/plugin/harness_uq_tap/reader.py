"""Reader for the Test Anything Protocol: `ok 1 - passage/question` is correct, `not ok 2 - passage/question` is wrong.

The text before the first `/` identifies the cluster. Lines of other forms, such as the plan `1..80`, are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq.plugin_api import Discovery, LogError, MetadataField, Questions, Run, Scores, Source, TaskLog

_LINE = re.compile(r"(?P<wrong>not )?ok\b *\d* *-? *(?P<name>[^#]*)")


class TestAnythingProtocol:
    """Reads files that end in `.tap`."""

    name = "tap"

    def find(self, paths: Sequence[str]) -> Discovery:
        """One run per file that ends in `.tap`."""
        mine = [path for path in paths if path.endswith(".tap")]
        rest = tuple(path for path in paths if path not in mine)
        return Discovery(tuple(Run(Path(path).name, (path,)) for path in mine), rest)

    def read(self, run: Run) -> Iterator[TaskLog]:
        """The task of the file.

        Raises
        ------
        LogError : if no line is a result
        """
        (path,) = run.files
        matches = map(_LINE.match, Path(path).read_text(encoding="utf-8").splitlines())
        results = {match["name"].strip(): not match["wrong"] for match in matches if match}
        if not results:
            raise LogError("No line begins with ok or not ok.")
        passages = [name.partition("/")[0] for name in results]
        place = {passage: code for code, passage in enumerate(dict.fromkeys(passages))}
        yield TaskLog(
            system="system",
            task=Path(path).stem,
            source=Source(path, self.name),
            questions=Questions(tuple(results), fields={"passage": MetadataField([place[one] for one in passages])}),
            data=(Scores("right", "none", np.array([list(results.values())], float).T),),
        )
