"""Every command searches the clusters of a log once and matches the questions of a task once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import harness_uq
from harness_uq.data import clusters
from harness_uq.data import match_questions as match
from harness_uq.data.structure import StructureOptions
from tests.data.toy import task_log

COMMANDS: dict[str, Callable[[Path, Path], object]] = {
    "estimate": lambda new, old: harness_uq.estimate([new, old]),
    "compare": lambda new, old: harness_uq.compare(new, old),
    "rank": lambda new, old: harness_uq.rank([new, old]),
    "rank, overall": lambda new, old: harness_uq.rank([new, old], overall=True),
    "gate": lambda new, old: harness_uq.gate(new, old, margin=0.05),
}
N_LOGS = 16  # eight tasks and groups of each of the two systems
MOST_MATCHES = 8


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = harness_uq.demo(tmp_path_factory.mktemp("demo") / "logs") / "lm-eval"
    return folder / "scripted-large", folder / "scripted-small"


@pytest.mark.parametrize("command", COMMANDS)
def test_one_cluster_search_for_each_log_and_one_match_for_each_task(command, runs, monkeypatch) -> None:
    searched: list[object] = []  # the objects themselves, because addresses of deleted objects are used again
    matched: list[object] = []
    find, pair = clusters.find_clusters, match._match
    monkeypatch.setattr(
        clusters, "find_clusters", lambda log, *a, **k: searched.append(log.questions) or find(log, *a, **k)
    )
    monkeypatch.setattr(match, "_match", lambda questions, *a: matched.append(tuple(questions)) or pair(questions, *a))
    COMMANDS[command](*runs)
    assert len(searched) == N_LOGS
    assert max(Counter(map(id, searched)).values()) == 1
    assert len(matched) <= MOST_MATCHES
    assert max(Counter(tuple(map(id, questions)) for questions in matched).values(), default=1) == 1


def test_clusters_are_searched_again_with_other_options_and_forgotten_with_the_log() -> None:
    log = task_log(
        [1, 0] * 40, fields={"passage": [f"p{i // 4}" for i in range(80)], "page": [i // 8 for i in range(80)]}
    )
    plugins = harness_uq.plugin_api.load_plugins()
    one, other = (StructureOptions(cluster=name) for name in ("passage", "page"))
    first = clusters.clusters_of(log, one, plugins)
    assert first is clusters.clusters_of(log, one, plugins)
    assert (first.key, clusters.clusters_of(log, other, plugins).key) == ("passage", "page")
    n_known = len(clusters._KNOWN)
    del log
    assert len(clusters._KNOWN) == n_known - 1
