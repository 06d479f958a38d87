"""Results rendered in an output format, for tests."""

from collections.abc import Sequence

from harness_uq.output.document import list_name
from harness_uq.output.formats import format_named
from harness_uq.results.result_set import RenderOptions, ResultSet


def render(
    results: Sequence[object], name: str = "table", *, errors: Sequence[dict[str, str]] = (), **options: object
) -> str:
    """Results of one kind in the format with this name; options are those of `RenderOptions`."""
    lists = {list_name(results[0]): results} if results else {"estimates": ()}
    text = format_named(name).render(ResultSet(lists, errors), RenderOptions(**options))
    assert isinstance(text, str)
    return text
