"""Tasks for live runs, written once."""

import pytest


@pytest.fixture(scope="session")
def live_folder(tmp_path_factory):
    """The folder of the tasks of `live_tasks`."""
    pytest.importorskip("lm_eval")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TQDM_DISABLE", "1")
        from tests.adapters.lm_eval import live_tasks

        return live_tasks.write(tmp_path_factory.mktemp("live") / "tasks")


@pytest.fixture(scope="session")
def stock_results(live_folder):
    """What lm-eval alone says of every task, with its bootstrap of 100 draws."""
    from tests.adapters.lm_eval import live

    return live.simple_evaluate(live_folder, uq=None, bootstrap_iters=100, log_samples=True)


@pytest.fixture(scope="session")
def live_results(live_folder):
    """The same with `bayes`."""
    from tests.adapters.lm_eval import live

    return live.simple_evaluate(live_folder, log_samples=True)
