"""Read a samples file into columns, in one pass."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from harness_uq.plugin_api import MAX_SCORES, LogError, Questions, TrialEndings, check_cells
from harness_uq_lm_eval.json_access import items, table, text
from harness_uq_lm_eval.read.document_fields import DocumentFields, PromptPrefixes
from harness_uq_lm_eval.read.metric_values import MetricValues
from harness_uq_lm_eval.read.rows import (
    FALLBACK,
    HARNESS_COLUMNS,
    Decoder,
    Row,
    UnparsedAnswers,
    is_unparsed,
    iterate,
    n_requests,
    prompt,
    repeated_keys,
    value,
)
from harness_uq_lm_eval.read.shared_items import Identifiers
from harness_uq_lm_eval.results_block import DRAW

# the name of a filter; in rows before lm-eval 0.4.7, which have none, how many rows of the question came before
Label = str | int


class Samples:
    """The questions of a samples file and the values of each metric and filter.

    `broken`: (first line, problem) of each row that is truncated or not a sample. `n_duplicates`: number of rows
    ignored because an earlier row has the same question and filter. `n_shared_ids`: number of rows whose id belongs to
    another document. `repeated`: (first line, keys) of each row in which keys occur twice. `unlisted`: columns of the
    rows that are not metrics.
    """

    def __init__(
        self, expected: Iterable[str] = (), identifiers: Identifiers | None = None, *, has_choices: bool = False
    ) -> None:
        """Create an empty table.

        `expected`: metrics that are read even if the rows do not list them. `identifiers`: receives the fields that may
        identify each question's item. `has_choices`: whether each request of a row is a choice of a question.
        """
        self._has_choices = has_choices
        self._n_choices: list[int] = []
        self._identifiers = identifiers
        self.n_duplicates = 0
        self.n_shared_ids = 0
        self._hash_of_all: hashlib._Hash | None = hashlib.sha256()
        self.broken: list[tuple[int, str]] = []
        self.repeated: list[tuple[int, list[str]]] = []
        self.unlisted: dict[str, None] = {}
        self._expected = frozenset(expected)
        self._columns: dict[tuple[str, Label], MetricValues] = {}
        self._ids: dict[object, int] = {}
        self._hashes: list[str] = []
        self._prompt_hashes: list[str] = []
        self._seen: dict[Label, bytearray] = {}
        self._occurrences: list[int] = []
        self._documents = DocumentFields()
        self.prompts = PromptPrefixes()
        self._unparsed = UnparsedAnswers()

    def __len__(self) -> int:
        """Number of questions."""
        return len(self._ids)

    def read(self, path: str) -> None:
        """Read the rows of a file; if its compression is damaged, those before the damage. Raises LogError if no row
        can be read, or there are too many metrics.
        """
        decode, number = Decoder(), 0
        try:
            for number, line in iterate(path):
                self._read_row(number, line, decode)
        except LogError as error:
            if not len(self):
                raise
            self.broken.append((number + 1, str(error)))
        check_cells(len(self), len(self._columns), MAX_SCORES)

    def _read_row(self, number: int, line: bytes, decode: Decoder) -> None:
        try:
            row = decode(line)
            self.add(row)
            self._hash(row)
        except (ValueError, RecursionError) as error:
            self.broken.append((number, str(error)))
            return
        if twice := repeated_keys(line, row, ("doc_id", "filter", *self._metrics(row))):
            self.repeated.append((number, twice))

    def add(self, row: Row) -> None:
        """Add a row; if a part of it cannot be read, nothing is added. Raises ValueError if a part of it cannot be
        read.
        """
        values = {metric: value(row[metric]) for metric in self._metrics(row)}
        question = self._question(row)
        label = self._label(row, question)
        if not self._is_new(label, question):
            self.n_duplicates += 1
            return
        self._unparsed.add(question, is_unparsed=_has_unparsed_answer(row))
        for metric, score in values.items():
            key = (metric, label)
            column = self._columns.get(key)
            if column is None:
                column = self._columns[key] = MetricValues()
            column.add(question, score)

    def _question(self, row: Row) -> int:
        doc_id, doc_hash = value(row["doc_id"]), text(value(row.get("doc_hash"))) or ""
        doc_id = doc_id if isinstance(doc_id, int | str) else repr(doc_id)
        known = self._ids.get(doc_id)
        if known is not None and self._is_another(row, known, doc_hash):
            # with a repeated number in `--samples`, several documents have the same id
            self.n_shared_ids += 1
            doc_id = f"{doc_id}#{doc_hash}"
            known = self._ids.get(doc_id)
        if known is not None:
            return known
        document, target = value(row.get("doc")), text(value(row.get("target_hash"))) or ""
        opening = prompt(row.get("arguments"))
        n_choices = n_requests(row.get("arguments")) if self._has_choices else 0
        question = self._ids[doc_id] = len(self._ids)
        self._hashes.append(doc_hash)
        self._prompt_hashes.append(text(value(row.get("prompt_hash"))) or "")
        self._n_choices.append(n_choices)
        self._occurrences.append(0)
        draw = value(row.get(DRAW))
        self._documents.add(document if draw is None else {**table(document), DRAW: draw})
        if self._identifiers is not None:
            self._identifiers.add(doc_id, document, target)
        self.prompts.add(opening)
        return question

    def _hash(self, row: Row) -> None:
        """Update the hash of all samples as lm-eval computes it."""
        hashes = [text(value(row.get(name))) for name in ("doc_hash", "prompt_hash", "target_hash")]
        if None in hashes:
            self._hash_of_all = None
        elif self._hash_of_all is not None:
            self._hash_of_all.update("".join(map(str, hashes)).encode())

    @property
    def chance(self) -> float | None:
        """Mean probability that a random choice is right; None if a number of choices is unknown."""
        if not self._n_choices or min(self._n_choices) < 2:
            return None
        return sum(1 / n for n in self._n_choices) / len(self._n_choices)

    def endings(self) -> TrialEndings | None:
        """How the questions ended; None if every answer was parsed."""
        return self._unparsed.endings(len(self))

    @property
    def hash_of_all(self) -> str | None:
        """Hash of all rows in their order; None if the rows have no hashes."""
        return None if self._hash_of_all is None else self._hash_of_all.hexdigest()

    def _is_another(self, row: Row, known: int, doc_hash: str) -> bool:
        """Whether the row's document differs from the one with this id that this filter has already seen."""
        filter_name = text(value(row.get("filter")))
        seen = self._seen.get(filter_name, b"") if filter_name is not None else b""
        return known < len(seen) and bool(seen[known]) and bool(doc_hash) and doc_hash != self._hashes[known]

    def _label(self, row: Row, question: int) -> Label:
        named = text(value(row.get("filter")))
        if named is not None:
            return named
        occurrence = self._occurrences[question]
        self._occurrences[question] = occurrence + 1
        return occurrence

    def _is_new(self, label: Label, question: int) -> bool:
        seen = self._seen.setdefault(label, bytearray())
        if question >= len(seen):
            seen.extend(bytes(question + 1 - len(seen)))
        is_new = not seen[question]
        seen[question] = 1
        return is_new

    def _metrics(self, row: Row) -> Sequence[str]:
        """Columns that the row or the results file lists as metrics; if neither does, all columns of the task."""
        others = [name for name in row if name not in HARNESS_COLUMNS]
        listed = items(value(row.get("metrics")))
        if not listed and not self._expected:
            return others
        metrics = [name for name in others if name in listed or name in self._expected]
        if len(metrics) < len(others):
            self.unlisted |= dict.fromkeys(name for name in others if name not in metrics)
        return metrics

    def name_filters(self, names: Sequence[str] | None) -> bool:
        """Assign the names of the task's filters, in order, to rows without one; further rows are duplicates.

        If the names are unknown, rows belong to several filters only if all questions have the same number of rows.
        Returns whether the filters were numbered because their names are unknown.
        """
        occurrences = set(self._occurrences)
        is_numbered = names is None and len(occurrences) == 1 and max(occurrences) > 1
        if names is None:
            names = [f"filter {i + 1}" for i in range(max(occurrences))] if is_numbered else ["none"]
        for label in [label for label in self._seen if isinstance(label, int)]:
            seen = self._seen.pop(label)
            if label < len(names):
                self._seen[names[label]] = seen
            else:
                self.n_duplicates += sum(seen)
        self._columns = {
            (metric, names[label] if isinstance(label, int) else label): column
            for (metric, label), column in self._columns.items()
            if isinstance(label, str) or label < len(names)
        }
        return is_numbered

    def columns(self) -> dict[tuple[str, str], MetricValues]:
        """Values by metric and filter; call `name_filters` first."""
        return {(metric, str(label)): column for (metric, label), column in self._columns.items()}

    def n_rows(self, filter_name: str) -> int:
        """Number of questions with a row of this filter."""
        return sum(self._seen.get(filter_name, b""))

    def questions(self, *, has_own_openings: bool) -> Questions:
        """The questions; with the openings of their prompts if these belong to the questions and not to examples."""
        return Questions(
            ids=tuple(str(doc_id) for doc_id in self._ids),
            hashes=tuple(self._hashes) if all(self._hashes) else (),
            prompt_hashes=tuple(self._prompt_hashes) if all(self._prompt_hashes) else (),
            fields=self._documents.candidates(),
            prompt_prefix=self.prompts.candidate() if has_own_openings else None,
        )


def _has_unparsed_answer(row: Row) -> bool:
    """Whether the filter could not parse the answer of a row; only a column with the fallback is decoded."""
    filtered = row.get("filtered_resps")
    if isinstance(filtered, msgspec.Raw) and FALLBACK.encode() not in bytes(filtered):
        return False
    return is_unparsed(value(filtered))
