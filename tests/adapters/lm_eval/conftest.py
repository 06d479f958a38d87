"""Fixtures: tasks for live runs, and their results."""

import pytest

collect_ignore = ["live/matrix_runs.py"]  # a program


@pytest.fixture(scope="session")
def live_folder(tmp_path_factory):
    """Folder with the tasks of `live_tasks`."""
    pytest.importorskip("lm_eval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TQDM_DISABLE", "1")
        from tests.adapters.lm_eval.live import live_tasks

        return live_tasks.write(tmp_path_factory.mktemp("live") / "tasks")


@pytest.fixture(scope="session")
def stock_results(live_folder):
    """Results of lm-eval alone for all tasks, with a bootstrap of 100 draws."""
    from tests.adapters.lm_eval.live import live_runs

    return live_runs.simple_evaluate(live_folder, uq=None, bootstrap_iters=100, log_samples=True)


@pytest.fixture(scope="session")
def live_results(live_folder):
    """Results of the same tasks with `--uq bayes`."""
    from tests.adapters.lm_eval.live import live_runs

    return live_runs.simple_evaluate(live_folder, log_samples=True)
