"""The hook at the end of a run."""

import asyncio
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.harness

NO_LOGS = SimpleNamespace(logs=[])


@pytest.fixture
def hook(inspect_log, tmp_path, monkeypatch):
    """A hook that knows the logs `gone.eval` and `there.eval`, of which only the second can be read."""
    from harness_uq_inspect.live import hook as module

    async def read(location, header_only):
        if location.endswith("gone.eval"):
            raise FileNotFoundError(location)
        return location

    async def finish(self, log):
        self.finished.append(log)

    monkeypatch.setattr(module, "read_eval_log_async", read)
    monkeypatch.setattr(module.UncertaintyHooks, "_finish", finish)
    found = module.UncertaintyHooks()
    found.finished = []
    found._locations = {name: str(tmp_path / f"{name}.eval") for name in ("gone", "there")}
    found._collected = {"gone": object()}
    return found


def test_a_deleted_log_does_not_affect_the_others(hook, caplog):
    there = hook._locations["there"]
    asyncio.run(hook.on_run_end(NO_LOGS))
    assert hook.finished == [there]
    assert "gone.eval: FileNotFoundError" in caplog.text


def test_a_log_is_processed_again_if_processing_was_cancelled(hook, monkeypatch):
    """Inspect then calls `on_run_end` again, shielded."""
    from harness_uq_inspect.live import hook as module

    async def cancelled(location, header_only):
        raise asyncio.CancelledError

    there = hook._locations["there"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "read_eval_log_async", cancelled)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(hook.on_run_end(NO_LOGS))
    asyncio.run(hook.on_run_end(NO_LOGS))
    assert hook.finished == [there]


def test_a_finished_run_does_not_affect_the_next(hook):
    asyncio.run(hook.on_run_end(NO_LOGS))
    hook.finished.clear()
    asyncio.run(hook.on_run_end(NO_LOGS))
    assert hook.finished == []
    assert hook._collected == {}


def test_an_interruption_changes_nothing_in_the_run(hook, monkeypatch):
    """Inspect calls `on_run_end` in a cancelled scope; an error there would change its exit code."""
    import anyio

    from harness_uq_inspect.live import hook as module

    async def finish(self, log):
        await anyio.sleep(0)
        self.finished.append(log)

    async def run():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await hook.on_run_end(NO_LOGS)
        return scope.cancelled_caught

    monkeypatch.setattr(module.UncertaintyHooks, "_finish", finish)
    there = hook._locations["there"]
    assert asyncio.run(run()) is False
    assert hook.finished == [there]


def test_an_interrupted_run_waits_a_limited_time(hook, monkeypatch, caplog):
    import anyio

    from harness_uq_inspect.live import hook as module

    async def finish(self, log):
        await anyio.sleep(60)

    async def run():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await hook.on_run_end(NO_LOGS)

    monkeypatch.setattr(module.UncertaintyHooks, "_finish", finish)
    monkeypatch.setattr(module, "_SECONDS", 0.01)
    asyncio.run(asyncio.wait_for(run(), 10))
    assert "no intervals for all logs" in caplog.text
