"""The table of docs/peers.md is that of benchmarks/results/peers.json, with the versions that its command installs."""

import json

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
RESULTS = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text(encoding="utf-8"))
REQUIREMENTS = (ROOT / "benchmarks" / "requirements.txt").read_text(encoding="utf-8")


def test_table_shows_the_results():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
    names = rows[0][1:]
    for shape, tools in RESULTS["shapes"].items():
        shown = next(row[1:] for row in rows if row[0] == shape)
        expected = {name: f"{tool['coverage']:0.3f} ({tool['width']:0.3f})" for name, tool in tools.items()}
        assert dict(zip(names, shown, strict=True)) == dict.fromkeys(names, "-") | expected


def test_versions_are_those_of_the_requirements():
    installed = {f"{name}=={version}" for name, version in RESULTS["versions"].items() if name != "harness-uq"}
    assert installed == set(REQUIREMENTS.split())


def test_page_states_the_date_and_the_versions():
    text = " ".join(PAGE.split())
    assert f"computed on {RESULTS['date']} with harness_uq" in text
    for name, version in RESULTS["versions"].items():
        assert f"{ {'harness-uq': 'harness_uq', 'inspect-ai': 'Inspect'}.get(name, name) } {version}" in text
