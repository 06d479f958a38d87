"""Convert the files of a run to task logs: values of the questions, the harness's own numbers, and messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import harness_uq.plugin_api as uq
from harness_uq_lm_eval import messages as catalogue
from harness_uq_lm_eval.json_access import Table, items
from harness_uq_lm_eval.read import replay
from harness_uq_lm_eval.read.discover import LmEvalRun
from harness_uq_lm_eval.read.metric_types import Interpretation, MetricType, TaskData, interpret, is_length, totals
from harness_uq_lm_eval.read.metric_values import MetricValues
from harness_uq_lm_eval.read.results import MetricKey, Results
from harness_uq_lm_eval.read.rows import Row, decoded_rows
from harness_uq_lm_eval.read.samples import Samples
from harness_uq_lm_eval.read.score_ranges import with_inferred_ranges
from harness_uq_lm_eval.read.shared_items import Identifiers, with_items
from harness_uq_lm_eval.results_block import DRAW

HARNESS = "lm-eval"

_LISTED = 5


def read_run(run: LmEvalRun) -> list[uq.TaskLog]:
    """The tasks and groups of a run, in the order of its results file. Raises LogError if one of the run's files cannot
    be read at all.
    """
    try:
        return _read(run)
    except OSError as error:
        reason = str(error.strerror or error)
        raise uq.LogError(uq.FILE_UNREADABLE(reason=reason).at(uq.paths.name_of(str(error.filename)))) from error


def _read(run: LmEvalRun) -> list[uq.TaskLog]:
    results = Results(run.results) if run.results is not None else None
    paths = dict(run.samples)
    names = tuple(paths) if results is None or run.only_sampled else tuple(dict.fromkeys((*results.rows, *paths)))
    identifiers: dict[str, Identifiers] = {}
    logs = [_Task(name, paths.get(name), run, results, identifiers=identifiers).log() for name in names]
    if results is None and not any(len(log.questions) for log in logs):
        raise uq.LogError(" ".join(warning.text for log in logs for warning in log.warnings))
    return with_items(logs, identifiers)


def logs_in_memory(results: Results, rows: Mapping[str, Iterable[Row]], *, replays: bool) -> list[uq.TaskLog]:
    """The tasks and groups of a run that has not been written yet, as `read_run` would read them from its files.

    `results`: content of the results file. `rows`: rows of the samples files by task, as they will be logged.
    `replays`: whether to score repeated trials one by one if the results do not contain their scores.
    """
    run = LmEvalRun(results.path, (results.path,), results.start())
    paths, identifiers = dict.fromkeys(rows, results.path), dict[str, Identifiers]()
    logs = [
        _Task(name, paths.get(name), run, results, rows.get(name, ()), identifiers, replays).log()
        for name in results.rows
    ]
    return with_items(logs, identifiers)


@dataclass(frozen=True, slots=True)
class _Task:
    """A task, or a group of tasks, in one run.

    `path`: its samples file, or the name of a run in memory with samples; None if there are no samples. `run`,
    `results`: the run, and the content of its results file. `rows`: its samples if they are in memory; None if they are
    in the file. `identifiers`: receives the identifiers of its items. `replays`: whether to score repeated trials one
    by one.
    """

    name: str
    path: str | None
    run: LmEvalRun
    results: Results | None
    rows: Iterable[Row] | None = None
    identifiers: dict[str, Identifiers] = field(default_factory=dict)
    replays: bool = True

    def log(self) -> uq.TaskLog:
        if self.results is not None and self.results.is_group(self.name) and self.path is None:
            return self._group(self.results)
        if self.path is None:
            if self.rows is not None:
                return self._totals_log("The results contain no samples of this task")
            is_unread = any(task == self.name for task, _ in self.run.unread)
            return self._totals_log(
                "The samples file cannot be read" if is_unread else "No samples file of this task was found"
            )
        identifiers = Identifiers(self.name)
        metrics = {metric for metric, _ in self._reported()}
        has_choices = self.results is not None and self.results.has_choices(self.name, metrics)
        samples = Samples(metrics, identifiers, has_choices=has_choices)
        try:
            if self.rows is None:
                samples.read(self.path)
            for row in self.rows or ():
                samples.add(row)
        except uq.LogError as error:
            warning = catalogue.SAMPLES_UNREADABLE(file=uq.paths.name_of(self.path), reason=str(error))
            return self._totals_log("The samples file cannot be read", messages=(warning,))
        if not len(samples):
            return self._totals_log("The samples file contains no row", messages=tuple(_broken(samples, self.path)))
        self.identifiers[self.name] = identifiers
        return self._sampled_log(samples)

    def _reported(self) -> dict[MetricKey, uq.HarnessResult]:
        """The harness's numbers, without values of -1, which mean that the run has no question of that length."""
        reported = self.results.reported(self.name) if self.results is not None else {}
        return {key: result for key, result in reported.items() if not (is_length(key[0]) and result.value == -1)}

    def _group(self, results: Results) -> uq.TaskLog:
        leaves = results.leaves(self.name)
        reason = f"This is a group of {len(leaves)} tasks" if leaves else "The tasks of this group are not logged"
        return self._totals_log(reason, leaves)

    def _totals_log(
        self, reason: str, subtasks: tuple[str, ...] = (), messages: tuple[uq.Message, ...] = ()
    ) -> uq.TaskLog:
        reported = self._reported()
        data = tuple(totals(self._about(key, result), reason) for key, result in reported.items())
        return self._task_log(uq.Questions(()), data, reported, (*self._notes(), *messages), subtasks)

    def _sampled_log(self, samples: Samples) -> uq.TaskLog:
        filters = self.results.filters(self.name) if self.results is not None else None
        is_numbered = samples.name_filters(filters)
        reported, columns = self._reported(), samples.columns()
        interpretations = [
            self._interpretation(key, columns.get(key), reported.get(key), samples) for key in self._keys(samples)
        ]
        for item in (interpretation.data for interpretation in interpretations):
            key = item.metric, item.filter
            if key in reported and not isinstance(item, uq.AggregateScore) and self._is_complete(samples, item.filter):
                # lm-eval counts the rows of the task, also for a metric that applies to part of them
                reported[key] = replace(reported[key], n=int(item.is_scored.sum()))
        bypassed = self._bypassed(columns)
        messages = (
            *self._notes(samples),
            *bypassed,
            *_broken(samples, self.path or ""),
            *self._counts(samples),
            *([catalogue.FILTERS_UNNAMED()] if is_numbered else []),
            *(message for interpretation in interpretations for message in interpretation.messages),
        )
        trials, remarks = self._trials(len(samples))
        data = with_inferred_ranges([*(interpretation.data for interpretation in interpretations), *trials])
        questions = samples.questions(has_own_openings=self._has_own_openings(samples))
        if any(name.startswith(f"{DRAW}.") for name in questions.fields):
            remarks = [*remarks, catalogue.CHOSEN_IN_ROUNDS(n_questions=len(samples))]
        ended_by = samples.endings()
        if ended_by is not None:
            n_unparsed = ended_by.counts()["unparsed"]
            remarks = [*remarks, catalogue.UNPARSED_ANSWERS(n_unparsed=n_unparsed, n_questions=len(samples))]
        log = self._task_log(questions, data, reported, (*messages, *remarks))
        return replace(log, facts=replace(log.facts, chance=samples.chance), ended_by=ended_by)

    def _trials(self, n_questions: int) -> tuple[list[uq.Scores], list[uq.Message]]:
        """Scores of single trials, as recorded by a live run or computed by replaying, and messages about them."""
        if self._repeats == 1 or self.results is None:
            return [], []
        recorded = self.results.trials(self.name)
        entries: Sequence[Table] = self._replayed() if recorded is None else recorded
        scores = []
        for entry in entries:
            matrix = replay.decoded(items(entry.get("scores"))) if "scores" in entry else None
            if matrix is not None and matrix.ndim == 2 and len(matrix) == n_questions:
                scores.append(
                    uq.Scores(str(entry["metric"]), str(entry["filter"]), matrix, logged_trials=matrix.shape[1])
                )
        if scores:
            return scores, [catalogue.TRIALS_SCORED_SEPARATELY(filter=replay.TRIALS, n_trials=self._repeats)]
        reasons = (catalogue.TRIALS_NOT_REPLAYED(reason=entry["reason"]) for entry in entries if "reason" in entry)
        return [], [catalogue.TRIALS_NOT_SCORED(n_trials=self._repeats), *reasons]

    def _replayed(self) -> Sequence[Table]:
        if self.path is None or not self.replays:
            return ()
        try:
            questions = replay.questions_of(decoded_rows(self.path) if self.rows is None else self.rows)
            return replay.trial_entries(self.name, replay.task_without_data(self.name, questions), questions)
        except (uq.LogError, ValueError, OSError) as error:
            return ({"task": self.name, "reason": str(error)},)

    def _keys(self, samples: Samples) -> list[MetricKey]:
        """Metrics to read, without those that were not scored and without lengths that the run did not include."""
        reported, results = self._reported(), self.results
        keys = dict.fromkeys((*reported, *samples.columns()))
        if results is None:
            return list(keys)
        return [k for k in keys if k in reported or not (is_length(k[0]) or results.is_bypassed(self.name, k[0]))]

    def _interpretation(
        self, key: MetricKey, column: MetricValues | None, reported: uq.HarnessResult | None, samples: Samples
    ) -> Interpretation:
        about = replace(
            self._about(key, reported),
            n_questions=len(samples),
            is_complete=self._is_complete(samples, key[1]),
        )
        if column is None:
            has_rows = samples.n_rows(key[1])
            what = f"metric {key[0]!r}" if has_rows else f"row of filter {key[1]!r}"
            return Interpretation(totals(about, f"The samples contain no {what}"))
        return interpret(column, about)

    def _is_complete(self, samples: Samples, filter_name: str) -> bool:
        """Whether the samples contain all questions that the harness scored with this filter."""
        return not samples.broken and samples.n_rows(filter_name) >= self._n_expected(samples)

    def _about(self, key: MetricKey, reported: uq.HarnessResult | None) -> MetricType:
        aggregation = self.results.aggregation(self.name, key[0]) if self.results is not None else None
        is_own = self.results is not None and self.results.has_own_aggregation(self.name, key[0])
        value = None if reported is None else reported.value
        stored = self.results.stored_interval(self.name, key, value) if self.results is not None else None
        reason = self.results.why_not_resampled(self.name, key) if self.results is not None else None
        return MetricType(
            *key,
            0,
            aggregation,
            reported,
            logged_trials=self._repeats,
            has_own_aggregation=is_own,
            stored=stored,
            why_not_resampled=reason,
        )

    @property
    def _repeats(self) -> int:
        """Number of trials per question; of a group, the largest number of its tasks."""
        if self.results is None:
            return 1
        return max(map(self.results.repeats, (self.name, *self.results.leaves(self.name))))

    def _n_expected(self, samples: Samples) -> int:
        """Number of questions that the samples should contain; their own number if there is no results file."""
        n = self.results.n_questions(self.name) if self.results is not None else None
        return len(samples) if n is None else n

    def _counts(self, samples: Samples) -> Iterator[uq.Message]:
        if samples.n_shared_ids:
            yield catalogue.SHARED_IDENTIFIERS(n_rows=samples.n_shared_ids)
        if samples.repeated:
            line, keys = samples.repeated[0]
            yield catalogue.REPEATED_KEYS(n_rows=len(samples.repeated), line=line, keys=_listed(keys))
        if samples.n_duplicates:
            yield catalogue.REPEATED_ROWS(n_rows=samples.n_duplicates)
        expected, n = self._n_expected(samples), len(samples)
        most_scored = max(map(len, samples.columns().values()), default=0)
        if n < expected:
            yield catalogue.SAMPLES_MISSING(n_logged=n, n_scored=expected)
        if n == expected and not samples.broken and self._is_of_another_run(samples):
            yield catalogue.SAMPLES_OF_ANOTHER_RUN()
        if most_scored > expected:
            yield catalogue.MORE_SAMPLES_THAN_SCORED(n_logged=most_scored, n_scored=expected)

    def _is_of_another_run(self, samples: Samples) -> bool:
        logged = self.results.task_hash(self.name) if self.results is not None else None
        return None not in (logged, samples.hash_of_all) and logged != samples.hash_of_all

    def _has_own_openings(self, samples: Samples) -> bool:
        """Whether the text after the shared prefix belongs to the question, and not to an example drawn for it.

        Fixed examples are part of the shared prefix, which is then most of a prompt. Examples drawn for each question
        are not, and an example that is drawn twice would look like a shared passage.
        """
        if self.results is None:
            return False
        if self.results.num_fewshot(self.name) == 0 or self.results.has_fixed_examples(self.name):
            return True
        return len(samples.prompts.shared_text) > samples.prompts.mean_length / 2

    def _notes(self, samples: Samples | None = None) -> tuple[uq.Message, ...]:
        notes = []
        if self.results is None:
            notes.append(catalogue.SYSTEM_NAMED_AFTER_FOLDER(reason=self.run.why_no_results))
        if samples is not None and samples.unlisted:
            notes.append(catalogue.UNLISTED_COLUMNS(columns=_listed(samples.unlisted)))
        return (*notes, *(message for task, message in self.run.unread if task == self.name))

    def _bypassed(self, columns: Iterable[MetricKey]) -> list[uq.Message]:
        metrics = dict.fromkeys(metric for metric, _ in columns)
        left_out = [metric for metric in metrics if self.results and self.results.is_bypassed(self.name, metric)]
        return [catalogue.BYPASSED_METRICS(metrics=_listed(left_out))] if left_out else []

    def _task_log(
        self,
        questions: uq.Questions,
        data: tuple[TaskData, ...],
        reported: Mapping[MetricKey, uq.HarnessResult],
        messages: tuple[uq.Message, ...],
        subtasks: tuple[str, ...] = (),
    ) -> uq.TaskLog:
        results = self.results
        if results is not None and results.repeated_keys:
            messages += (catalogue.RESULTS_KEYS_REPEATED(keys=_listed(results.repeated_keys)),)
        return uq.TaskLog(
            system=results.system if results is not None else _system_of_folder(self.run.files[0]),
            task=self.name,
            source=uq.Source(
                path=self.path or self.run.files[0],
                harness=HARNESS,
                version=results.version if results is not None else None,
                time=self.run.time,
            ),
            questions=questions,
            data=data,
            reported=reported,
            declared=results.declared(self.name) if results is not None else None,
            facts=results.facts(self.name) if results is not None else uq.RunMetadata(),
            higher_is_better=results.higher_is_better(self.name) if results is not None else {},
            messages=messages,
            subtasks=subtasks,
        )


def _broken(samples: Samples, path: str) -> list[uq.Message]:
    if not samples.broken:
        return []
    lines = _listed(str(number) for number, _ in samples.broken)
    return [
        catalogue.BROKEN_LINES(
            n_lines=len(samples.broken),
            file=uq.paths.name_of(path),
            lines=lines,
            reason=samples.broken[0][1],
            n_kept=len(samples),
        )
    ]


def _listed(names: Iterable[str]) -> str:
    all_names = list(names)
    n_more = len(all_names) - _LISTED
    return ", ".join(all_names[:_LISTED]) + (f" and {n_more} more" if n_more > 0 else "")


def _system_of_folder(path: str) -> str:
    """Name of the system from the folder, which lm-eval names after the model with slashes as two underscores."""
    folder = uq.paths.folder_of(path) if uq.paths.is_remote(path) else str(Path(path).absolute().parent)
    return uq.paths.name_of(folder).replace("__", "/")
