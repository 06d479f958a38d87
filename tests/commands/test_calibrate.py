"""The arguments and files of `harness-uq calibrate`; what it computes is tested in test_calibration."""

from pathlib import Path

import pytest

from harness_uq.cli import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--setting", "iid", "--methods", "foo"],
            "Unknown value of --methods: 'foo'. Available values: agresti",
        ),
        (
            ["--setting", "iid", "--sizes", "77"],
            "Unknown value of --sizes: 77. Available values: 3, 10, 30, 100.",
        ),
        (["--setting", "clustered", "--sizes", "77"], "Unknown value of --sizes: 77. No values are available."),
        (["--sizes", "0"], "Argument --sizes: invalid value '0'. Give a whole number, 1 or more."),
        (["--jobs", "0"], "Argument --jobs: invalid value '0'. Give a whole number, 1 or more."),
        (["--levels", "95"], "Argument --levels: invalid value '95'. Give a number between 0 and 1, such as 0.95."),
    ],
)
def test_names_and_numbers_that_no_setting_has_are_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_results_that_cannot_be_read_are_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text("[1, 2]")
    for name, said in (("none.json", "cannot be read: No such file"), ("other.json", "is not a calibration report")):
        for option in ("--from", "--beside"):
            assert main(["calibrate", option, str(tmp_path / name)]) == 1
            assert f"{name} {said}" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--report", "--keep", "--readme-figure"])
def test_files_are_tried_before_the_simulation(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("runner.run_simulations", "readme_figure.showcase"):
        monkeypatch.setattr(f"harness_uq.calibration.{name}", lambda *_, **__: pytest.fail("the work was begun"))
    (tmp_path / "file").touch()
    assert main(["calibrate", "--setting", "iid", option, str(tmp_path / "file" / "x.svg")]) == 1
    assert "Cannot write " in capsys.readouterr().err


def test_a_report_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "found"
    main(["calibrate", "--setting", "iid", "--sizes", "3", "--methods", "wilson", "--report", str(folder)])
    assert (folder / "results.json").exists()
    assert list(folder.glob("*.svg"))
    assert (tmp_path / "found.md").read_text().startswith("#")
    results = str(folder / "results.json")
    assert main(["calibrate", "--from", results, "--beside", results]) in (0, 1)
