"""From a run's files to task logs: values, the harness's own numbers beside them, and what a reader should know."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness_uq import LogError, Questions, Reported, RunFacts, Scores, Source, TaskLog
from harness_uq.logs.places import folder_of, is_remote, name_of
from harness_uq_lm_eval.jsontree import Table, items
from harness_uq_lm_eval.read import replay
from harness_uq_lm_eval.read.columns import Column
from harness_uq_lm_eval.read.discover import LmEvalRun
from harness_uq_lm_eval.read.kinds import About, Interpretation, TaskData, interpret, is_length, totals
from harness_uq_lm_eval.read.results import MetricKey, Results
from harness_uq_lm_eval.read.rows import Row, decoded_rows
from harness_uq_lm_eval.read.samples import Samples
from harness_uq_lm_eval.read.shared_items import Identifiers, with_items

HARNESS = "lm-eval"

_LISTED = 5


def read_run(run: LmEvalRun) -> list[TaskLog]:
    """The tasks and groups of a run, in the order of its results file.

    Raises
    ------
    LogError : if one of the run's files cannot be read at all
    """
    try:
        return _read(run)
    except OSError as error:
        raise LogError(f"{name_of(str(error.filename))} cannot be read: {error.strerror or error}") from error


def _read(run: LmEvalRun) -> list[TaskLog]:
    results = Results(run.results) if run.results is not None else None
    paths = dict(run.samples)
    names = tuple(paths) if results is None or run.only_sampled else tuple(dict.fromkeys((*results.rows, *paths)))
    found: dict[str, Identifiers] = {}
    logs = [_Task(name, paths.get(name), run, results, identifiers=found).log() for name in names]
    if results is None and not any(len(log.questions) for log in logs):
        raise LogError("; ".join(warning for log in logs for warning in log.warnings))
    return with_items(logs, found)


def logs_in_memory(results: Results, rows: Mapping[str, Iterable[Row]]) -> list[TaskLog]:
    """The tasks and groups of a run that has not been written yet, as `read_run` would read them from its files.

    Parameters
    ----------
    results : what the results file will say
    rows : rows of the samples files by task, as they will be logged
    """
    run, found = LmEvalRun(results.path, (results.path,)), dict[str, Identifiers]()
    paths = dict.fromkeys(rows, results.path)
    logs = [_Task(name, paths.get(name), run, results, rows.get(name), found).log() for name in results.rows]
    return with_items(logs, found)


@dataclass(frozen=True, slots=True)
class _Task:
    """A task, or a group of tasks, in one run; `rows` where its samples are not on disk."""

    name: str
    path: str | None
    run: LmEvalRun
    results: Results | None
    rows: Iterable[Row] | None = None
    identifiers: dict[str, Identifiers] = field(default_factory=dict)

    def log(self) -> TaskLog:
        if self.results is not None and self.results.is_group(self.name) and self.path is None:
            return self._group(self.results)
        if self.path is None:
            return self._unsampled("no samples file of this task was found")
        identifiers = Identifiers(self.name)
        samples = Samples((metric for metric, _ in self._reported()), identifiers)
        try:
            if self.rows is None:
                samples.read(self.path)
            for row in self.rows or ():
                samples.add(row)
        except LogError as error:
            return self._unsampled("the samples file cannot be read", f"{name_of(self.path)}: {error}")
        if not len(samples):
            return self._unsampled("the samples file holds no row", *_broken(samples, self.path))
        self.identifiers[self.name] = identifiers
        return self._sampled(samples)

    def _reported(self) -> dict[MetricKey, Reported]:
        """The harness's numbers; -1 says that the run has no question of that length."""
        reported = self.results.reported(self.name) if self.results is not None else {}
        return {key: one for key, one in reported.items() if not (is_length(key[0]) and one.value == -1)}

    def _group(self, results: Results) -> TaskLog:
        leaves = results.leaves(self.name)
        reason = f"a group of {len(leaves)} tasks" if leaves else "a group whose tasks are not logged"
        return self._totals(reason, leaves)

    def _unsampled(self, reason: str, *warnings: str) -> TaskLog:
        return self._totals(reason, warnings=warnings)

    def _totals(self, reason: str, subtasks: tuple[str, ...] = (), warnings: tuple[str, ...] = ()) -> TaskLog:
        reported = self._reported()
        data = tuple(totals(self._about(key, one), reason) for key, one in reported.items())
        return self._task_log(Questions(()), data, reported, self._notes(), warnings, subtasks)

    def _sampled(self, samples: Samples) -> TaskLog:
        filters = self.results.filters(self.name) if self.results is not None else None
        is_made_up = samples.name_filters(filters)
        reported, columns = self._reported(), samples.columns()
        found = [self._interpretation(key, columns.get(key), reported.get(key), samples) for key in self._keys(samples)]
        bypassed = self._bypassed(columns)
        notes = (*self._notes(samples), *bypassed, *(note for one in found for note in one.notes))
        warnings = (
            *_broken(samples, self.path or ""),
            *self._counts(samples),
            *(["the rows do not name their filters; they are numbered"] if is_made_up else []),
            *(warning for one in found for warning in one.warnings),
        )
        trials, remarks = self._trials(len(samples))
        data = (*(one.data for one in found), *trials)
        questions = samples.questions(has_own_openings=self._has_own_openings(samples))
        return self._task_log(questions, data, reported, (*notes, *remarks), warnings)

    def _trials(self, n_questions: int) -> tuple[list[Scores], list[str]]:
        """Scores of single trials, as a live run recorded them or as replaying gives them, and what to say of them."""
        if self._repeats == 1 or self.results is None:
            return [], []
        recorded = self.results.trials(self.name)
        entries: Sequence[Table] = self._replayed() if recorded is None else recorded
        found = []
        for entry in entries:
            matrix = replay.decoded(items(entry.get("scores"))) if "scores" in entry else None
            if matrix is not None and matrix.ndim == 2 and len(matrix) == n_questions:
                found.append(Scores(str(entry["metric"]), str(entry["filter"]), matrix, logged_trials=matrix.shape[1]))
        if found:
            return found, [f"filter {replay.TRIALS!r}: each of the {self._repeats} trials of a question by itself"]
        unscored = f"{self._repeats} trials a question were logged; only what the filter made of them was scored"
        reasons = (f"the trials are not scored one by one: {e['reason']}" for e in entries if "reason" in e)
        return [], [unscored, *reasons]

    def _replayed(self) -> Sequence[Table]:
        if self.path is None or self.rows is not None:
            return ()
        try:
            return self._scored_again(replay.questions_of(decoded_rows(self.path)))
        except (LogError, ValueError) as error:
            return ({"task": self.name, "reason": str(error)},)

    def _scored_again(self, questions: Sequence[replay.Question]) -> Sequence[Table]:
        try:
            return replay.trial_entries(self.name, replay.task_without_data(self.name, questions), questions)
        except OSError as error:  # of the task's own files
            raise LogError(str(error)) from error

    def _keys(self, samples: Samples) -> list[MetricKey]:
        """Metrics to read: not those with a sentinel for a value, nor lengths that the run did not try."""
        reported, results = self._reported(), self.results
        keys = dict.fromkeys((*reported, *samples.columns()))
        if results is None:
            return list(keys)
        return [k for k in keys if k in reported or not (is_length(k[0]) or results.is_bypassed(self.name, k[0]))]

    def _interpretation(
        self, key: MetricKey, column: Column | None, reported: Reported | None, samples: Samples
    ) -> Interpretation:
        about = replace(
            self._about(key, reported),
            n_questions=len(samples),
            is_complete=not samples.broken and samples.n_rows(key[1]) >= self._n_expected(samples),
            logged_trials=self._repeats,
        )
        if column is None:
            has_rows = samples.n_rows(key[1])
            what = f"metric {key[0]!r}" if has_rows else f"row of filter {key[1]!r}"
            return Interpretation(totals(about, f"the samples hold no {what}"))
        return interpret(column, about)

    def _about(self, key: MetricKey, reported: Reported | None) -> About:
        aggregation = self.results.aggregation(self.name, key[0]) if self.results is not None else None
        is_own = self.results is not None and self.results.has_own_aggregation(self.name, key[0])
        return About(*key, 0, aggregation, reported, has_own_aggregation=is_own)

    @property
    def _repeats(self) -> int:
        return self.results.repeats(self.name) if self.results is not None else 1

    def _n_expected(self, samples: Samples) -> int:
        """Questions that the samples should hold: those they hold, where no results file says."""
        n = self.results.n_questions(self.name) if self.results is not None else None
        return len(samples) if n is None else n

    def _counts(self, samples: Samples) -> list[str]:
        warnings = []
        if samples.n_shared_ids:
            warnings += [
                f"{samples.n_shared_ids} rows have the id of another document and count as questions of their own"
            ]
        if samples.repeated:
            number, keys = samples.repeated[0]
            rows = "1 row holds" if len(samples.repeated) == 1 else f"{len(samples.repeated)} rows hold"
            warnings += [f"{rows} a key twice, of which the last counts (line {number}: {_listed(keys)})"]
        if samples.n_duplicates:
            warnings += [f"{samples.n_duplicates} rows repeat a question and filter; the first of each was kept"]
        expected, n = self._n_expected(samples), len(samples)
        most_scored = max(map(len, samples.columns().values()), default=0)
        if n < expected:
            warnings += [f"the samples hold {n} of the {expected} questions that lm-eval scored; values are of those"]
        if n == expected and not samples.broken and self._is_of_another_run(samples):
            warnings += ["the samples are not those of the results file: their hashes (task_hashes) differ"]
        if most_scored > expected:
            warnings += [f"the samples hold {most_scored} questions where the results file says {expected}"]
        return warnings

    def _is_of_another_run(self, samples: Samples) -> bool:
        logged = self.results.task_hash(self.name) if self.results is not None else None
        return None not in (logged, samples.hash_of_all) and logged != samples.hash_of_all

    def _has_own_openings(self, samples: Samples) -> bool:
        """Whether what follows the shared prefix belongs to the question, and is no example drawn for it.

        Fixed examples are part of the shared prefix and most of a prompt; examples drawn anew for each question are
        not, and one that comes twice would look like a passage.
        """
        if self.results is None:
            return False
        if self.results.num_fewshot(self.name) == 0 or self.results.has_fixed_examples(self.name):
            return True
        return len(samples.prompts.shared_text) > samples.prompts.mean_length / 2

    def _notes(self, samples: Samples | None = None) -> tuple[str, ...]:
        notes = []
        if self.results is None:
            notes += [f"{self.run.why_no_results}; the system is named after the folder"]
        if samples is not None and samples.unlisted:
            notes += [f"columns that are not listed as metrics are not read: {_listed(samples.unlisted)}"]
        return tuple(notes)

    def _bypassed(self, columns: Iterable[MetricKey]) -> list[str]:
        metrics = dict.fromkeys(metric for metric, _ in columns)
        left_out = [metric for metric in metrics if self.results and self.results.is_bypassed(self.name, metric)]
        return [f"not scored by lm-eval, whose value 999 says so: {_listed(left_out)}"] if left_out else []

    def _task_log(
        self,
        questions: Questions,
        data: tuple[TaskData, ...],
        reported: Mapping[MetricKey, Reported],
        notes: tuple[str, ...],
        warnings: tuple[str, ...],
        subtasks: tuple[str, ...] = (),
    ) -> TaskLog:
        results = self.results
        if results is not None and results.repeated_keys:
            warnings += (
                f"the results file holds keys twice, of which the last counts: {_listed(results.repeated_keys)}",
            )
        return TaskLog(
            system=results.system if results is not None else _system_of_folder(self.run.files[0]),
            task=self.name,
            source=Source(
                path=self.path or self.run.files[0],
                harness=HARNESS,
                version=results.version if results is not None else None,
                time=self.run.time,
            ),
            questions=questions,
            data=data,
            reported=reported,
            declared=results.declared(self.name) if results is not None else None,
            facts=results.facts(self.name) if results is not None else RunFacts(),
            higher_is_better=results.higher_is_better(self.name) if results is not None else {},
            notes=notes,
            warnings=warnings,
            subtasks=subtasks,
        )


def _broken(samples: Samples, path: str) -> list[str]:
    if not samples.broken:
        return []
    lines, name = _listed(str(number) for number, _ in samples.broken), name_of(path)
    which = f"line {lines} of {name} is" if len(samples.broken) == 1 else f"lines {lines} of {name} are"
    kept = "1 question was kept" if len(samples) == 1 else f"{len(samples)} questions were kept"
    return [f"{which} cut off or no sample ({samples.broken[0][1]}); {kept}"]


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:_LISTED]) + (f" and {len(shown) - _LISTED} more" if len(shown) > _LISTED else "")


def _system_of_folder(path: str) -> str:
    """lm-eval names the folder after the model, with each slash as two underscores."""
    folder = folder_of(path) if is_remote(path) else str(Path(path).absolute().parent)
    return name_of(folder).replace("__", "/")
