"""From raw results to rank sets: `python examples/audit/audit.py --output audit-output`.

Writes results.csv and leaderboard.html, and prints which share of neighbours on the leaderboard can be told apart.
"""

import argparse
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import make_results

from harness_uq import Ranking, rank, read_table
from harness_uq.cli import main as harness_uq


def main(argv: Sequence[str] | None = None) -> None:
    """Write the results and the page, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("audit-output"), help="folder (%(default)s)")
    output = parser.parse_args(argv).output
    output.mkdir(parents=True, exist_ok=True)
    results, page = output / "results.csv", StringIO()
    make_results.write(results)
    with redirect_stdout(page):
        harness_uq(["rank", str(results), "--format", "html"])
    (output / "leaderboard.html").write_text(page.getvalue(), encoding="utf-8")
    print(*shares(rank(read_table(results))), sep="\n")


def shares(rankings: Sequence[Ranking]) -> list[str]:
    """A line for each task, and one for all: how many systems next to each other are told apart."""
    found = [(ranking, ranking.neighbours) for ranking in rankings if ranking.neighbours]
    lines = [
        f"{ranking.task}: {len(ranking.systems)} systems, {ranking.n_questions} questions; "
        + _told(neighbours.n_pairs, neighbours.undecided, neighbours.undecided_at_once)
        for ranking, neighbours in found
    ]
    totals = (sum(getattr(part, name) for _, part in found) for name in ("n_pairs", "undecided", "undecided_at_once"))
    return [*lines, f"all: {_told(*totals)}"]


def _told(pairs: int, undecided: int, undecided_at_once: int) -> str:
    one, once = pairs - undecided, pairs - undecided_at_once
    return (
        f"of {pairs} pairs of neighbours {one} ({one / pairs:.0%}) are told apart one by one, "
        f"{once} ({once / pairs:.0%}) with all pairs tested at once"
    )


if __name__ == "__main__":
    main()
