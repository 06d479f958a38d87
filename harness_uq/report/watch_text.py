"""A look at a run in the making, as one line."""

from harness_uq.results.look import Look


def look_text(look: Look) -> str:
    """System, task, metric, how far the run is, score and interval."""
    name = look.metric if look.filter == "none" else f"{look.metric},{look.filter}"
    ahead = (
        f" ({look.n_scored - look.n_counted} more ended before their turn)" if look.n_scored > look.n_counted else ""
    )
    value = "" if look.value is None else f"  {look.value:.4f}"
    interval = "" if look.low is None or look.high is None else f"  {look.level:.0%} [{look.low:.4f}, {look.high:.4f}]"
    why = f"  {look.why}" if look.why else ""
    return f"{look.system}  {look.task}  {name}  {look.n_counted} of {look.n_planned}{ahead}{value}{interval}{why}"
