"""The arguments and files of `python -m benchmarks.calibration`."""

from pathlib import Path

import pytest

from benchmarks.calibration.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--setting", "idd"], "invalid choice: 'idd'"),
        (["--setting", "iid", "--methods", "foo"], "unknown value 'foo' (available values: agresti"),
        (["--setting", "iid", "--sizes", "77"], "unknown value 77 (available values: 3, 10, 30, 100)"),
        (["--setting", "clustered", "--sizes", "77"], "unknown value 77 (available values: none)"),
        (["--sizes", "0"], "argument --sizes"),
        (["--jobs", "0"], "argument --jobs"),
        (["--levels", "95"], "argument --levels"),
    ],
)
def test_names_and_numbers_that_no_setting_has_are_refused(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert error in capsys.readouterr().err


def test_results_that_cannot_be_read_are_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text("[1, 2]")
    for name, said in (("none.json", "cannot be read: No such file"), ("other.json", "is not a calibration report")):
        for option in ("--from", "--beside"):
            assert main([option, str(tmp_path / name)]) == 1
            assert f"{name} {said}" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--report", "--keep", "--readme-figure"])
def test_files_are_tried_before_the_simulation(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("runner.run_simulations", "readme_figure.showcase"):
        monkeypatch.setattr(f"benchmarks.calibration.{name}", lambda *_, **__: pytest.fail("the work was begun"))
    (tmp_path / "file").touch()
    assert main(["--setting", "iid", option, str(tmp_path / "file" / "x.svg")]) == 1
    assert "Cannot write " in capsys.readouterr().err


def test_a_report_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "found"
    main(["--setting", "iid", "--sizes", "3", "--methods", "wilson", "--report", str(folder)])
    assert (folder / "results.json").exists()
    assert list(folder.glob("*.svg"))
    assert (tmp_path / "found.md").read_text().startswith("#")
    results = str(folder / "results.json")
    assert main(["--from", results, "--beside", results]) in (0, 1)
