"""Modules in the current folder are not executed by the processes that a command starts."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

_MODULES = ("joblib", "multiprocessing", "distributed", "numpy")
_CONSOLE_SCRIPT = """\
import sys
from harness_uq.commands.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.mark.parametrize("engine", ["joblib", "dask"])
def test_workers_import_nothing_from_the_current_folder(tmp_path: Path, engine: str) -> None:
    if importlib.util.find_spec("joblib" if engine == "joblib" else "distributed") is None:
        pytest.skip(f"requires {engine}")
    script, untrusted = tmp_path / "script.py", tmp_path / "untrusted"
    script.write_text(_CONSOLE_SCRIPT)
    untrusted.mkdir()
    for name in _MODULES:
        (untrusted / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\n")
    for model in ("a", "b"):
        rows = [f"task,{model},{question},{question % 2}\n" for question in range(10)]
        (untrusted / f"{model}.csv").write_text("task,model,sample_id,score\n" + "".join(rows))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, str(script), "estimate", "a.csv", "b.csv", "--jobs", "2", "--engine", engine]
    done = subprocess.run(command, cwd=untrusted, env=environment, capture_output=True, text=True, check=False)
    assert not (tmp_path / "executed").exists()
    assert done.returncode == 0, done.stderr


def test_the_action_installs_with_the_installed_pip(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())
    (install,) = [step["run"] for step in action["runs"]["steps"] if step["name"] == "install harness-uq"]
    (tmp_path / "pip.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    environment = {"PATH": str(tmp_path / "bin"), "GITHUB_ACTION_PATH": str(tmp_path / "missing")}
    subprocess.run(["/bin/bash", "-c", install], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert not (tmp_path / "executed").exists()
