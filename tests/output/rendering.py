"""Results rendered in an output format, for tests."""

from collections.abc import Sequence

from harness_uq.io.plugins.protocols import RenderOptions
from harness_uq.output.formats import BUILT_IN
from harness_uq.results.documents import lists_of, result_set
from harness_uq.results.estimate import Estimate
from harness_uq.results.overall import Overall


def render(
    results: Sequence[object], name: str = "table", *, errors: Sequence[dict[str, str]] = (), **options: object
) -> str:
    """Results of one kind in the format with this name; options are those of `RenderOptions`."""
    text = BUILT_IN[name].render(result_set(lists_of(results) or {"estimates": ()}, errors), RenderOptions(**options))
    assert isinstance(text, str)
    return text


def report_html(
    estimates: Sequence[Estimate],
    comparisons: Sequence[object] = (),
    rankings: Sequence[object] = (),
    plans: Sequence[object] = (),
    *,
    overall: Overall | None = None,
    title: str = "Evaluation report",
    command: str = "",
    date: str = "",
    **lists: Sequence[object],
) -> str:
    """The page of a report."""
    lists |= {"estimates": estimates, "comparisons": comparisons, "rankings": rankings, "plans": plans}
    results = result_set({"overall": [] if overall is None else [overall], **lists})
    text = BUILT_IN["html"].render(results, RenderOptions(title=title, command=command, date=date))
    assert isinstance(text, str)
    return text
