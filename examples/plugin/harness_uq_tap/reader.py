"""Scores in the Test Anything Protocol: `ok 1 - passage/question` is right, `not ok 2 - passage/question` is wrong.

What stands before the first `/` groups the questions. Lines of other forms, such as the plan `1..80`, say nothing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from harness_uq import CandidateField, Found, LogError, Questions, Run, Scores, Source, TaskLog

_LINE = re.compile(r"(?P<wrong>not )?ok\b *\d* *-? *(?P<name>[^#]*)")


class TestAnythingProtocol:
    """Reads files that end in `.tap`."""

    name = "tap"

    def find(self, paths: Sequence[str]) -> Found:
        """A run for each file of that name."""
        mine = [path for path in paths if path.endswith(".tap")]
        rest = tuple(path for path in paths if path not in mine)
        return Found(tuple(Run(Path(path).name, (path,)) for path in mine), rest)

    def read(self, run: Run) -> Iterator[TaskLog]:
        """The one task of the file."""
        (path,) = run.files
        matches = map(_LINE.match, Path(path).read_text(encoding="utf-8").splitlines())
        results = {match["name"].strip(): not match["wrong"] for match in matches if match}
        if not results:
            raise LogError("no line begins with ok or not ok")
        passages = [name.partition("/")[0] for name in results]
        place = {passage: code for code, passage in enumerate(dict.fromkeys(passages))}
        yield TaskLog(
            system="system",
            task=Path(path).stem,
            source=Source(path, self.name),
            questions=Questions(tuple(results), fields={"passage": CandidateField([place[one] for one in passages])}),
            data=(Scores("right", "none", np.array([list(results.values())], float).T),),
        )
