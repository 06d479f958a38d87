"""From raw results to rank sets: `python examples/audit/audit.py --output audit-output`.

Writes results.csv and leaderboard.html, and prints the share of neighbouring systems that are distinguished.
"""

import argparse
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import make_results

from harness_uq import Ranking, rank, read_table
from harness_uq.commands.main import main as harness_uq


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
    """One line per task and one for all tasks: how many neighbouring systems are distinguished."""
    tasks = [(ranking, ranking.neighbours) for ranking in rankings if ranking.neighbours]
    lines = [
        f"{ranking.task}: {len(ranking.systems)} systems, {ranking.n_questions} questions; "
        + _share_text(neighbours.n_pairs, neighbours.undecided, neighbours.undecided_simultaneous)
        for ranking, neighbours in tasks
    ]
    totals = (
        sum(getattr(part, name) for _, part in tasks) for name in ("n_pairs", "undecided", "undecided_simultaneous")
    )
    return [*lines, f"all: {_share_text(*totals)}"]


def _share_text(pairs: int, undecided: int, undecided_simultaneous: int) -> str:
    single, simultaneous = pairs - undecided, pairs - undecided_simultaneous
    return (
        f"of {pairs} pairs of neighbours, {single} ({single / pairs:.0%}) are distinguished by separate tests, "
        f"{simultaneous} ({simultaneous / pairs:.0%}) by simultaneous tests"
    )


if __name__ == "__main__":
    main()
