"""Is A better than B? Two systems' runs, task by task and over all tasks."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness_uq.comparing.corpus import pair_records
from harness_uq.comparing.differences import DifferenceFinding, paired_difference
from harness_uq.comparing.independent import common_bounds, difference_of
from harness_uq.comparing.margins import check_margins
from harness_uq.comparing.pairing import Paired, pair_scores, pool
from harness_uq.comparing.rows import CompareOptions, Facts, comparison_row, undecided_row
from harness_uq.comparing.sameness import sameness
from harness_uq.comparing.sides import Side, common_keys
from harness_uq.errors import DataError, HarnessUqError, NotEstimableError, StructureError, told
from harness_uq.estimating.analysis import clusters_of
from harness_uq.estimating.own import estimate_of
from harness_uq.logs.data import Classifications, Records, TaskLog
from harness_uq.logs.newest import Chosen, Key, higher_is_better, metrics_of
from harness_uq.plugins.manager import Plugins, load_plugins
from harness_uq.plugins.reading import Runs
from harness_uq.results.comparison import Comparison
from harness_uq.structure.facts import Clusters
from harness_uq.structure.task_groups import group_data, members_of

__all__ = ["CompareOptions", "compare", "worse_rows"]

OVERALL = "overall"


def compare(
    a: Runs, b: Runs, options: CompareOptions | None = None, *, plugins: Plugins | None = None
) -> list[Comparison]:
    """Compare two systems on every task, metric and filter that both were run on, and over all tasks.

    Parameters
    ----------
    a, b : logged runs of one system each: paths, or task logs already read. Of several runs of a task the newest
        finished one without a limit counts
    options : how to compare
    plugins : the installed ones by default

    Returns
    -------
    One comparison a task, metric and filter, then one a group of tasks, then one over all tasks for each metric that
    several tasks share. Where the data have no answer the difference is None and a warning says why.

    Raises
    ------
    LogError : if a path gives no log
    DataError : if one argument holds several systems
    NotEstimableError : if the two have no task and metric in common
    StructureError : if a margin is as large as the range of the scores
    """
    offered = plugins or load_plugins()
    side_a, side_b = Side.read(a, "A", offered), Side.read(b, "B", offered)
    matched, notes = common_keys(side_a, side_b)
    names = _distinct_names(side_a.system, side_b.system)
    job = _Job(options or CompareOptions(), offered, names, side_a, side_b)
    check_margins(job.options, (side_a.chosen[key] for key, _ in matched))
    rows: list[Comparison] = []
    pairs: dict[Key, Paired] = {}
    for key_a, key_b in matched:
        if not side_a.chosen[key_a].log.subtasks:
            row, paired = job.isolated(side_a.chosen[key_a], side_b.chosen[key_b])
            rows.append(row)
            if paired is not None:
                pairs[key_a] = paired
    rows += [job.group(key, pairs) for key, _ in matched if side_a.chosen[key].log.subtasks]
    rows += job.overall(pairs)
    same = sameness(side_a, side_b, matched)
    return [replace(row, same=same, notes=(*row.notes, *notes)) for row in rows]


def worse_rows(rows: Sequence[Comparison], level: float = 0.95) -> list[Comparison]:
    """Comparisons that show A to be worse than B by more than their margin.

    The k rows over all tasks (one a metric and filter) are tested at 1 - (1 - level) / k each, and so are those of
    single tasks and groups (Bonferroni): one tail of (1 - level) / 2 for either kind, so that a system that is not
    worse anywhere is blamed with probability at most about 1 - level in all, however many metrics there are.

    Parameters
    ----------
    rows : from `compare`
    level : in (0, 1)
    """
    tested = [row for row in rows if row.prob_not_worse is not None]
    n_alike = Counter(row.task == OVERALL for row in tested)
    tail = (1 - level) / 2
    return [
        row
        for row in tested
        if row.prob_not_worse is not None and row.prob_not_worse < tail / n_alike[row.task == OVERALL]
    ]


def _distinct_names(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A comparison under way."""

    options: CompareOptions
    plugins: Plugins
    names: tuple[str, str]
    side_a: Side
    side_b: Side

    def isolated(self, a: Chosen, b: Chosen) -> tuple[Comparison, Paired | None]:
        """As `task`; an error that nobody foresaw costs this row alone."""
        try:
            return self.task(a, b)
        except (DataError, StructureError) as error:
            return undecided_row(self._facts(a, b), self.options, str(error)), None
        except HarnessUqError:
            raise
        except Exception as error:
            row = undecided_row(self._facts(a, b), self.options, told(error))
            return replace(row, failure=told(error)), None

    def task(self, a: Chosen, b: Chosen) -> tuple[Comparison, Paired | None]:
        """The row of one task, metric and filter, and the matched questions where there are any."""
        reason = "as asked for"
        if self.options.method != "independent":
            try:
                if isinstance(a.data, Records | Classifications):
                    return self._records(a, b), None
                paired = pair_scores(a, b, self.options.structure, self.plugins)
            except NotEstimableError as error:
                reason = str(error)
            else:
                return self._paired(paired), paired
        return self._independent(a, b, reason), None

    def group(self, key: Key, pairs: Mapping[Key, Paired]) -> Comparison:
        """The row of a group of tasks, weighted as the harness weights them."""
        log, (_, metric, name) = self.side_a.chosen[key].log, key
        try:
            members = members_of(log, self.side_a.logs)
            group = group_data(log, metric, name, members, self._clusters)
            held = [pairs.get((task, metric, name)) for task in group.names]
            if missing := [task for task, pair in zip(group.names, held, strict=True) if pair is None]:
                raise NotEstimableError(f"{', '.join(missing)} cannot be compared question by question")
        except NotEstimableError as error:
            facts = Facts(key, self.names, (None, None), higher_is_better(log, metric))
            return undecided_row(facts, self.options, str(error))
        present = [pair for pair in held if pair is not None]
        return self._pooled(
            key,
            present,
            group.weights.tolist(),
            f"{len(present)} task{'s' if len(present) != 1 else ''}, weighted as the harness does",
        )

    def overall(self, pairs: Mapping[Key, Paired]) -> list[Comparison]:
        """Rows over all tasks that share a metric and filter; every question counts alike."""
        rows = []
        for (metric, name), tasks in metrics_of(pairs).items():
            members = [pairs[task, metric, name] for task in tasks]
            if len(members) > 1 and len({member.pair.bounds for member in members}) == 1:
                note = (
                    f"{len(members)} tasks pooled, every question counting alike{self._left_out(metric, name, tasks)}"
                )
                rows.append(self._pooled((OVERALL, metric, name), members, None, note))
        return rows

    def _left_out(self, metric: str, name: str, pooled: Sequence[str]) -> str:
        both = self.side_a.chosen.keys() & self.side_b.chosen.keys()
        plain = [key for key in both if key[1:] == (metric, name) and not self.side_a.chosen[key].log.subtasks]
        n = len(plain) - len(pooled)
        return f"; {n} without matched questions left out" if n > 0 else ""

    def _paired(self, paired: Paired) -> Comparison:
        facts = replace(
            self._facts(paired.a, paired.b, paired.notes, paired.warnings),
            values=paired.pair.values,
            bounds=paired.pair.bounds,
            pair=paired.pair,
            n_unmatched=paired.n_unmatched,
            n_trials=paired.n_trials,
            cluster_key=paired.cluster_key,
        )
        if self.options.scope == "benchmark":
            return self._row(lambda: self._of_these_questions(paired), facts)
        return self._row(lambda: paired_difference(paired.pair, self.options.method), facts)

    def _of_these_questions(self, paired: Paired) -> DifferenceFinding:
        """Exactly these questions: only trial noise is random, and the two systems' noises are independent."""
        rows = [
            estimate_of(chosen, self.options.estimation, self.plugins, rows=at)
            for chosen, at in zip((paired.a, paired.b), paired.rows, strict=True)
        ]
        return replace(difference_of(rows[0], rows[1]), method=rows[0].method, about=rows[0].about)

    def _records(self, a: Chosen, b: Chosen) -> Comparison:
        found = pair_records(a, b, self.options.structure, self.plugins, seed=self.options.seed)
        facts = replace(
            self._facts(a, b, warnings=found.warnings),
            values=found.values,
            bounds=found.bounds,
            n_matched=found.n_matched,
            n_unmatched=found.n_unmatched,
            cluster_key=found.cluster_key,
            n_clusters=found.n_clusters,
        )
        return self._row(lambda: found.difference, facts)

    def _independent(self, a: Chosen, b: Chosen, reason: str) -> Comparison:
        rows = [estimate_of(chosen, self.options.estimation, self.plugins) for chosen in (a, b)]
        note = f"questions are not matched: {reason}. The scores count as independent, which is less precise"
        facts = replace(
            self._facts(a, b, (note,), tuple(text for row in rows for text in row.warnings)),
            values=(rows[0].value, rows[1].value),
            bounds=common_bounds(rows[0], rows[1]),
            n_unmatched=(rows[0].n_questions, rows[1].n_questions),
            n_trials=max((row.n_trials or 1 for row in rows), default=1),
            cluster_key=rows[0].cluster_key or rows[1].cluster_key,
        )
        return self._row(lambda: difference_of(rows[0], rows[1]), facts)

    def _pooled(self, key: Key, members: Sequence[Paired], weights: Sequence[float] | None, note: str) -> Comparison:
        pair = pool(members, weights)
        if pair.units is not None:
            keys = sorted({member.cluster_key for member in members if member.cluster_key})
            note += f"; independent units are {', '.join(keys) or 'items that recur across tasks'} and single questions"
        facts = replace(
            self._facts(members[0].a, members[0].b, (note,)),
            key=key,
            values=pair.values,
            bounds=pair.bounds,
            pair=pair,
            n_unmatched=(sum(m.n_unmatched[0] for m in members), sum(m.n_unmatched[1] for m in members)),
            n_trials=max(member.n_trials for member in members),
            cluster_key=None if pair.units is None else "units",
        )
        if self.options.scope == "benchmark":
            return undecided_row(facts, self.options, "several tasks at once have no benchmark-scope comparison")
        return self._row(lambda: paired_difference(pair, self.options.method), facts)

    def _row(self, find: Callable[[], DifferenceFinding], facts: Facts) -> Comparison:
        try:
            return comparison_row(find(), facts, self.options)
        except (DataError, NotEstimableError) as error:
            return undecided_row(facts, self.options, str(error))

    def _facts(self, a: Chosen, b: Chosen, notes: tuple[str, ...] = (), warnings: tuple[str, ...] = ()) -> Facts:
        return Facts(
            key=(a.log.task, a.data.metric, a.data.filter),
            names=self.names,
            values=(None, None),
            higher_is_better=higher_is_better(a.log, a.data.metric),
            notes=tuple(dict.fromkeys((*notes, *a.notes, *b.notes, *a.log.notes, *b.log.notes))),
            warnings=tuple(dict.fromkeys((*warnings, *a.log.warnings, *b.log.warnings))),
        )

    def _clusters(self, log: TaskLog) -> Clusters:
        return clusters_of(log, self.options.structure, self.plugins)
