"""Plan which grader scores which answer, from a pilot of answers that all graders scored."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from harness_uq.analyses.graded_answers import GradedAnswers, graded_answers, graders_of_same_answers, scores_of_graders
from harness_uq.analyses.pilot_variances import FEW_CLUSTERS
from harness_uq.data.arrays import FloatArray, IntArray
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.manager import Plugins
from harness_uq.io.readers import Runs, task_logs
from harness_uq.messages.catalogue.graders import GRADERS_OF_DIFFERENT_RANGES
from harness_uq.messages.catalogue.planning import PILOT_CLUSTERS_UNKNOWN, PILOT_FEW_CLUSTERS, PLAN_UNAVAILABLE
from harness_uq.messages.errors import DataError, NotEstimableError, StructureError
from harness_uq.messages.message import Message
from harness_uq.options import Options, resolve
from harness_uq.options_typed import PlanGradersKeywords
from harness_uq.results.plan import GraderDesign, GraderDesignName, GraderPlan
from harness_uq.results.result_list import ResultList
from harness_uq.stats.labels.grader_design import GraderVariance, assign_graders, grader_variance, pairs_in_clusters

_IN_WORDS: dict[GraderDesignName, str] = {
    "rotation": "graders in turn",
    "all graders": "all graders",
    "one grader": "one grader",
}


def plan_graders(
    logs: Runs,
    options: Options | None = None,
    *,
    plugins: Plugins | None = None,
    **keywords: "Unpack[PlanGradersKeywords]",
) -> ResultList[GraderPlan]:
    """Plan which grader scores which answer at a fixed number of grades.

    Each metric of a log is a grader. The logs contain a pilot of at least ten answers that all graders scored. The plan
    covers all answers of the logs, or a random part of them if there are fewer grades than answers.

    Parameters
    ----------
    logs : paths of logged runs or results in memory, as for `read_logs`
    options : options of the plan
    plugins : plugins to use; by default the installed ones
    **keywords : `budget`, the number of grades of the answers of each system, which is required; `seed`, and options
        about the structure and the selection of the logs. They take precedence over `options`

    Returns
    -------
    One plan per system, task and filter. All systems have the same graders for the same questions

    Raises
    ------
    LogError : if no log can be read from a path
    DataError : if there is no budget, or no answers have several graders
    """
    chosen, selection = resolve("plan_graders", options, keywords)
    if chosen.budget is None or chosen.budget < 1:
        raise DataError(f"Invalid budget: {chosen.budget}. Give a number of grades, 1 or more.")
    offered = plugins or load_plugins()
    entries = graded_answers(task_logs(logs, offered, selection), None, chosen.structure, offered)
    panels = graders_of_same_answers(entries)
    if not panels:
        raise DataError(
            "A plan of graders requires scores of several graders for the same answers. In a table, name the column "
            "of the graders, such as --column metric=grader."
        )
    return ResultList(_plan(graders, int(chosen.budget), chosen.seed) for graders in panels)


def _plan(graders: Sequence[GradedAnswers], budget: int, seed: int) -> GraderPlan:
    first = graders[0]
    names = tuple(entry.grader for entry in graders)
    plan = GraderPlan(first.log.task, first.data.filter, first.log.system, names, budget)
    scores = scores_of_graders(graders)
    try:
        if len({entry.bounds for entry in graders}) > 1:
            raise NotEstimableError(GRADERS_OF_DIFFERENT_RANGES(graders=names))
        is_pilot = np.isfinite(scores).all(axis=1)
        pilot, codes = scores[is_pilot], None if first.clusters is None else first.clusters[is_pilot]
        variance = grader_variance(pilot, codes)
    except (DataError, NotEstimableError, StructureError) as error:
        reasons = f"the graders {', '.join(names)} of task {plan.task!r}: {error}"
        return replace(plan, messages=(PLAN_UNAVAILABLE(reasons=reasons),))
    same_cluster = 0.0 if first.clusters is None else pairs_in_clusters(first.clusters)
    designs = tuple(_designs(variance, len(scores), budget, same_cluster))
    rng = np.random.default_rng(seed)
    ids = first.log.questions.ids
    # in the order of the identifiers, so that questions have the same graders in all systems
    rows = np.array(sorted(range(len(ids)), key=ids.__getitem__))[rng.permutation(len(ids))[: designs[0].n_answers]]
    assigned = assign_graders(len(rows), len(names), designs[0].n_per_answer, rng)
    return replace(
        plan,
        n_pilot=len(pilot),
        n_clusters=None if codes is None else len(np.unique(codes)),
        sd_questions=float(np.sqrt(variance.questions)),
        sd_clusters=None if codes is None else float(np.sqrt(variance.clusters)),
        sd_graders=float(np.sqrt(variance.graders)),
        sd_residual=float(np.sqrt(variance.residual)),
        designs=designs,
        answer=_answer(plan, designs),
        template=tuple(_template(plan, ids, rows, assigned, scores)),
        messages=tuple(_warnings(codes, same_cluster)),
    )


def _warnings(pilot_clusters: IntArray | None, same_cluster: float) -> Iterator[Message]:
    """What limits the accuracy of the variance between clusters."""
    if pilot_clusters is None or same_cluster == 0:
        return
    n_clusters = len(np.unique(pilot_clusters))
    if n_clusters == len(pilot_clusters):
        yield PILOT_CLUSTERS_UNKNOWN()
    elif n_clusters < FEW_CLUSTERS:
        yield PILOT_FEW_CLUSTERS(n_clusters=n_clusters)


def _designs(variance: GraderVariance, n_answers: int, budget: int, same_cluster: float) -> list[GraderDesign]:
    """The best rotation, all graders and one grader, with the smallest standard error first.

    The answers to grade are a random sample, which has the same share of pairs in a cluster as all answers.
    """
    k = variance.n_graders
    designs = [
        GraderDesign(
            "rotation" if per_answer < k else "all graders",
            n,
            per_answer,
            variance.rotated_error(n, per_answer, same_cluster),
        )
        for per_answer in range(1, k + 1)
        if (n := min(n_answers, budget // per_answer))
    ]
    best = min(designs[: k - 1], key=lambda one: one.std_error)
    n = min(n_answers, budget)
    single = GraderDesign("one grader", n, 1, variance.single_error(n, same_cluster))
    return sorted([best, *designs[k - 1 :], single], key=lambda one: one.std_error)


def _answer(plan: GraderPlan, designs: Sequence[GraderDesign]) -> str:
    best, k = designs[0], len(plan.graders)
    each = f"{best.n_per_answer} grader{'s' if best.n_per_answer > 1 else ''}"
    answers = f"{best.n_answers:,} answers of {plan.system} to {plan.task}"
    how = {
        "rotation": f"Let the {k} graders take turns, with {each} for each of {answers}.",
        "all graders": f"Let all {k} graders score {answers}.",
        "one grader": f"Let one grader score {answers}.",
    }[best.design]
    others = " and ".join(
        f"{one.std_error:.3g} with {_IN_WORDS[one.design]} ({one.n_answers:,} answers)" for one in designs[1:]
    )
    return f"{how} The standard error of the mean score is expected to be {best.std_error:.3g}, compared with {others}."


def _template(
    plan: GraderPlan, ids: Sequence[str], rows: IntArray, assigned: IntArray, scores: FloatArray
) -> list[tuple[str, ...]]:
    """Rows of the table of grades in the order of the log, with the grades that exist."""
    table: list[tuple[str, ...]] = []
    for row, graders in sorted(zip(rows.tolist(), assigned.tolist(), strict=True)):
        for j in graders:
            score = scores[row, j]
            text = f"{score:g}" if np.isfinite(score) else ""
            table.append((ids[row], plan.task, plan.system, plan.graders[j], text))
    return table
