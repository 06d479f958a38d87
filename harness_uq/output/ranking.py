"""Rankings for readers: a headline, a table of systems, the matrix of all pairs, and how to read the columns."""

from collections.abc import Sequence

from harness_uq.output.columns import decimals_of, format_interval, format_number, metric_name
from harness_uq.output.document import Document, Grid, GridCell, ResultKind, Section
from harness_uq.output.footnotes import footnotes, sentences, warnings_of
from harness_uq.output.phrases import probability
from harness_uq.output.ranking_headline import group_text, ranking_answer, ranks_text
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted, percent_text, shorten_names, task_title
from harness_uq.results.ranking import Ranking

MOST_IN_MATRIX = 20

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}


def rankings_document(rankings: Sequence[Ranking], digits: int = 4) -> Document:
    """A table of systems and a matrix of all pairs for each ranking."""
    sections = [section for ranking in rankings for section in _sections(ranking, digits)]
    return Document(sections, footnotes(rankings), _guide(rankings), "Ranks of systems.")


def _sections(ranking: Ranking, digits: int) -> list[Section]:
    systems = ranking.systems
    sizes = f"{counted(len(systems), 'system')}, {counted(ranking.n_questions, 'question')}"
    level = f"{100 * systems[0].interval.level:g}%"
    decimals = decimals_of(ranking.metric, min(abs(system.value) for system in systems), digits)
    columns = [
        Cells("System", [system.system for system in systems], is_number=False, wraps=True),
        Cells("Value", [format_number(system.value, decimals) for system in systems]),
        Cells(f"{level} interval", [format_interval(system.interval, decimals) for system in systems], name="interval"),
        Cells("Rank set", [ranks_text(system.rank_set) for system in systems]),
        Cells("P(best)", [probability(system.prob_best) for system in systems], spare=1, name="best"),
        Cells(
            "Expected rank",
            ["-" if system.expected_rank is None else f"{system.expected_rank:.1f}" for system in systems],
            spare=5,
            in_paper=False,
        ),
        Cells(
            f"{level} ranks",
            [ranks_text(None if system.prob_best is None else system.rank_interval) for system in systems],
            spare=3,
            name="ranks",
            in_paper=False,
        ),
        Cells("Group", [group_text(system.letters) for system in systems], is_number=False),
        Cells(
            _CORRECTIONS.get(ranking.correction or "", "Adjusted"),
            [group_text(system.letters_adjusted) for system in systems],
            is_number=False,
            spare=2,
            name="adjusted-group",
            in_paper=False,
        ),
        Cells(
            "Bayes@N",
            ["-" if system.tied_rank is None else str(system.tied_rank) for system in systems],
            spare=4,
            in_paper=False,
        ),
    ]
    title = f"{ranking.task}, {metric_name(ranking.metric, ranking.filter)}: {sizes}"
    sections = [Section(title, columns, answer=ranking_answer(ranking))]
    if 2 < len(systems) <= MOST_IN_MATRIX and ranking.prob_better is not None:
        sections.append(_matrix(ranking, ranking.prob_better))
    return sections


def _matrix(ranking: Ranking, prob_better: Sequence[Sequence[float]]) -> Section:
    names = [system.system for system in ranking.systems]
    columns = [Cells("", [f"{k} {name}" for k, name in enumerate(shorten_names(names, 15), 1)], False, name="system")]
    for j in range(len(names)):
        shares = [row[j] for row in prob_better]
        texts = ["." if i == j else percent_text(share) for i, share in enumerate(shares)]
        columns.append(Cells(str(j + 1), texts, spare=j))
    title = f"{ranking.task}: probability that the system of the row is better than that of the column, in per cent"
    return Section(title, columns, is_optional=True)


def _guide(rankings: Sequence[Ranking]) -> dict[str, str]:
    """The meaning of the columns and of the probabilities."""
    if not rankings:
        return {}
    systems = [system for ranking in rankings for system in ranking.systems]
    n, level = rankings[0].n_comparisons, systems[0].interval.level
    percent, tail = f"{100 * level:g}%", (1 - level) / 2
    correction = next((_CORRECTIONS[r.correction] for r in rankings if r.correction), None)
    error = max(ranking.diagnostics.get("mc_error", 0) for ranking in rankings)
    meanings = {
        f"{percent} interval": "interval of each score on its own, as `harness-uq estimate` reports it for these "
        "questions.",
        f"{percent} ranks": "credible interval of the rank of each system on its own.",
        "Group": "systems that share a letter are not separated: the probability that one is better than the other "
        f"lies between {tail:g} and {1 - tail:g}. The letters are not corrected for the number of comparisons ({n}).",
        "Probabilities": "shares of joint draws of all systems, for which the systems may be alike; their Monte Carlo "
        "error is at most "
        f"{error:.3f}.",
    }
    if all(ranking.prob_better is None for ranking in rankings):
        meanings["Group"] = "systems that share a letter are not separated by the rank sets."
        del meanings["Probabilities"]
    if any(system.rank_set for system in systems):
        meanings["Rank set"] = (
            f"possible ranks of each system; the rank sets of all systems hold simultaneously with {percent} "
            "confidence."
        )
    if correction:
        meanings[correction] = f"groups by paired tests, corrected for {counted(n, 'comparison')}."
    if any(system.tied_rank is not None for system in systems):
        meanings["Bayes@N"] = (
            "ranks on exactly these questions; neighbours with z below 1.645 are tied (Hariri et al. 2025). The error "
            "rate is not controlled."
        )
    return {header: f"{header}: {text}" for header, text in meanings.items()}


def rankings_grid(rankings: Sequence[Ranking], digits: int) -> Grid:
    """Systems by tasks, with the letters of their groups."""
    cells = {
        (system.system, task_title(ranking.task, ranking.metric, ranking.filter)): GridCell(
            format_number(system.value, digits), format_interval(system.interval, digits), group_text(system.letters)
        )
        for ranking in rankings
        for system in ranking.systems
    }
    level = rankings[0].systems[0].interval.level
    notes = [
        f"{100 * level:g}% intervals are below the scores.",
        "Systems that share a letter are not separated on that task.",
        *sentences(warnings_of(rankings)),
    ]
    return Grid(cells, "Scores with intervals and groups.", notes)


KIND = ResultKind(Ranking, rankings_document, grid=rankings_grid)
