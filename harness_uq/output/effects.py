"""Variance components for readers: a table per score, the share of each source, then warnings and notes."""

from harness_uq.output.columns import format_interval, format_number, metric_name
from harness_uq.output.document import ResultKind, Section, one_section_each
from harness_uq.output.phrases import percent
from harness_uq.output.terminal import Cells
from harness_uq.plots.label_texts import counted
from harness_uq.results.effects import Effects
from harness_uq.results.format_points import difference_number as difference

_ROUNDING = 1e-6  # of the largest standard deviation; smaller ones are rounding errors


def _section(row: Effects, digits: int) -> Section:
    parts, unit = row.components, "points" if row.is_share else "units"
    level = f"{100 * row.interval.level:g}%"
    rounding = _ROUNDING * max((part.sd_interval[1] for part in parts), default=0.0)

    def deviation(sd: float) -> str:
        return difference(sd if sd > rounding else 0.0, in_points=row.is_share)

    intervals = [" to ".join(map(deviation, part.sd_interval)) for part in parts]
    columns = [
        Cells("Component", [part.name for part in parts], is_number=False, wraps=True),
        Cells("Levels", [f"{part.n_levels:,}" for part in parts]),
        Cells(f"SD, {unit}", [deviation(part.sd) for part in parts], name="sd"),
        Cells(f"{level} interval", intervals, spare=1, name="sd-interval"),
        Cells("Share of variance", [percent(part.share) for part in parts], name="share"),
        Cells(
            f"{level} interval of share",
            [f"{percent(part.share_interval[0])} to {percent(part.share_interval[1])}" for part in parts],
            spare=2,
            name="share-interval",
        ),
        Cells(
            "Share of uncertainty",
            [percent(row.uncertainty.get(part.name)) for part in parts],
            name="uncertainty",
            in_paper=False,
        ),
    ]
    lines = [
        "",
        f"Mean score over new levels of {', '.join(row.new)}: {format_number(row.value, digits)}, {level} interval "
        f"{format_interval(row.interval, digits)}. If only {row.unit} generalizes and everything else stays as it is: "
        f"{format_interval(row.interval_questions_only, digits)}.",
        row.sentence,
        *(f"{name}: {evidence}." for name, evidence in row.evidence.items()),
    ]
    if row.not_identifiable:
        lines.append(f"Not identifiable separately from the residual: {', '.join(row.not_identifiable)}.")
    title = f"{row.model} on {row.task}, {metric_name(row.metric, row.filter)}: {counted(row.n_questions, 'question')}"
    legend = {
        "Share of variance": "Share of variance: share of the variance of a single score.",
        "Share of uncertainty": "Share of uncertainty: share of the variance of the mean score.",
    }
    return Section(title, columns, lines, legend=legend)


KIND = ResultKind(Effects, one_section_each(_section, "Variance components."))
