"""A snapshot of a run in progress, as one line of text."""

from harness_uq.messages.control_characters import escape_control
from harness_uq.results.snapshot import Snapshot


def look_text(look: Snapshot) -> str:
    """System, task, metric, progress, score and interval."""
    name = look.metric if look.filter == "none" else f"{look.metric},{look.filter}"
    ahead = f" ({look.n_scored - look.n_used} more finished out of order)" if look.n_scored > look.n_used else ""
    value = "" if look.value is None else f"  {look.value:.4f}"
    interval = "" if look.low is None or look.high is None else f"  {look.level:.0%} [{look.low:.4f}, {look.high:.4f}]"
    messages = "".join(f"  {message.text}" for message in look.messages if not message.is_ignored)
    return escape_control(
        f"{look.system}  {look.task}  {name}  {look.n_used} of {look.n_planned}{ahead}{value}{interval}{messages}"
    )
