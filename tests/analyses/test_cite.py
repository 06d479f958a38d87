"""A citation names the sources of what was used, and nothing else."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import harness_uq
from harness_uq.analyses.cite import latex
from harness_uq.analyses.report import Report
from harness_uq.messages.errors import DataError, LogError
from harness_uq.results.method_texts import bibliography
from tests.commands.test_main import output


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return harness_uq.demo(tmp_path_factory.mktemp("citation") / "logs") / "lm-eval"


@pytest.fixture(scope="module")
def passages(logs: Path) -> list[harness_uq.TaskLog]:
    return [log for log in harness_uq.read_logs([logs]).logs if log.task == "demo_passages"]


@pytest.fixture(scope="module")
def report(passages: list[harness_uq.TaskLog]) -> Report:
    return harness_uq.report(passages)


def test_every_cited_key_has_an_entry_and_every_entry_is_cited(report: Report) -> None:
    citation = harness_uq.cite(report)
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", citation.paragraph) for key in keys.split(",")}
    assert cited == set(citation.keys) == set(re.findall(r"^@\w+\{(\w+),", citation.bibtex, re.MULTILINE))
    assert {"bowyer2025", "holm1979", "harness_uq"} <= cited
    assert "wilson1927" not in cited


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("wilson", {"wilson1927", "bowyer2025"}),
        ("clopper-pearson", {"clopper1934", "bowyer2025"}),
        ("jeffreys", {"brown2001"}),
        ("t", {"bowyer2025"}),
    ],
)
def test_the_sources_are_those_of_the_method(method: str, keys: set[str]) -> None:
    row = harness_uq.estimate_scores([1, 0, 1, 1, 0, 1], options=harness_uq.Options(method=method))
    assert set(harness_uq.cite(row).keys) == {*keys, "harness_uq"}


def test_clusters_trials_level_and_scope_are_stated() -> None:
    scores = np.random.default_rng(1).integers(0, 2, (24, 5))
    options = harness_uq.Options(level=0.9)
    paragraph = harness_uq.cite(
        harness_uq.estimate_scores(scores, clusters=np.arange(24) // 4, options=options)
    ).paragraph
    assert r"90\,\%" in paragraph
    assert "6 clusters" in paragraph
    assert "5 times" in paragraph
    benchmark = harness_uq.estimate_scores(scores, options=harness_uq.Options(scope="benchmark"))
    assert "exactly these questions" in harness_uq.cite(benchmark).paragraph
    assert "independent" in harness_uq.cite(harness_uq.estimate_scores([1, 0, 1, 1])).paragraph


def test_a_document_gives_what_the_results_give(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report.to_dict()))
    citation = harness_uq.cite(report)
    assert harness_uq.cite(path) == harness_uq.cite(str(path)) == harness_uq.cite(report.to_dict()) == citation
    apart = harness_uq.cite(list(report.estimates), list(report.comparisons))
    assert set(apart.keys) <= set(citation.keys)


def test_rankings_gates_effects_and_plans_have_their_sources(passages: list[harness_uq.TaskLog]) -> None:
    ranking = harness_uq.cite(harness_uq.rank(passages))
    assert {"mogstad2024", "holm1979", "ferguson1973"} <= set(ranking.keys)
    new, baseline = ([log] for log in passages)
    gate = harness_uq.gate(new, baseline, margin=0.05)
    assert "holm1979" in harness_uq.cite(gate).keys
    assert "miller2024" in harness_uq.cite(harness_uq.plan(passages)).keys


def test_without_methods_there_is_nothing_to_cite() -> None:
    with pytest.raises(DataError):
        harness_uq.cite()
    with pytest.raises(DataError):
        harness_uq.cite({"schema": 1, "estimates": [], "errors": []})


@pytest.mark.parametrize("content", ["no JSON", "[1, 2]", '{"results": {}}'])
def test_a_file_that_no_command_wrote_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(LogError, match=re.escape(str(path))):
        harness_uq.cite(path)


def test_a_plugins_method_is_named_with_the_references_that_it_states() -> None:
    row = harness_uq.estimate_scores([1, 0, 1, 1]).to_dict() | {"method": "theirs"}
    citation = harness_uq.cite({"schema": 1, "estimates": [row], "errors": []})
    assert "theirs" in citation.paragraph
    assert citation.keys == ("harness_uq",)


def test_the_command_prints_the_paragraph_and_writes_the_entries(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, bib = tmp_path / "results.json", tmp_path / "references.bib"
    assert output(capsys, "estimate", str(logs), "--task", "demo_copying", "--output", str(results))[0] == 0
    code, out, err = output(capsys, "cite", str(results))
    citation = harness_uq.cite(results)
    assert (code, out, err) == (0, f"{citation}\n", "")
    code, out, _ = output(capsys, "cite", str(results), "--bib", str(bib))
    assert (code, out) == (0, f"{citation.paragraph}\n")
    assert bib.read_text() == f"{citation.bibtex}\n"
    code, out, err = output(capsys, "cite", str(bib))
    assert (code, out) == (1, "")
    assert str(bib) in err


def test_entries_are_complete_and_their_plain_text_has_no_markup() -> None:
    assert len(bibliography()) > 70
    for key, source in bibliography().items():
        assert key == f"{re.sub('[^a-z]', '', key)}{source.fields['year']}"
        assert {"author", "title"} <= source.fields.keys()
        assert {"journal", "booktitle", "publisher", "eprint"} & source.fields.keys()
        assert not set("{}\\`") & set(source.text)
    text = bibliography()["wilson1927"].text
    assert text == (
        "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. "
        "Journal of the American Statistical Association 22, 209–212."
    )


def test_names_are_escaped_for_latex() -> None:
    assert latex("50% of a_b & c#1 ^") == r"50\% of a\_b \& c\#1 \^{}"


def test_a_folder_is_an_error_that_names_the_command_that_writes_results(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"--output results\.json"):
        harness_uq.cite(tmp_path)
