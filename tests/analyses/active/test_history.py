"""Where a history may come from, and how often its model is fitted."""

import numpy as np
import pytest

from harness_uq import ActiveHistory, ActiveSampler, estimate, read_logs
from harness_uq.commands.main import main
from harness_uq.inference import subset
from tests.analyses.active.test_logged_rounds import IDS, RUNS, evaluation, log_of
from tests.analyses.active.test_sampler import HISTORY


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "earlier.csv"
    rows = [
        f"earlier-{s},sums,{question},{score:g}"
        for s, row in enumerate(HISTORY)
        for question, score in zip(IDS, row, strict=True)
    ]
    path.write_text("\n".join(["system,task,id,score", *rows]), encoding="utf-8")
    return path


@pytest.fixture
def store(table, tmp_path):
    pytest.importorskip("pyarrow")
    assert main(["estimate", str(table), "--store", str(tmp_path / "store"), "--format", "json"]) == 0
    return tmp_path / "store"


@pytest.fixture
def fits(monkeypatch):
    """Number of fits."""
    calls, fit = [], subset.fit_predictor
    monkeypatch.setattr(subset, "fit_predictor", lambda *args, **options: calls.append(1) or fit(*args, **options))
    subset._fitted.cache_clear()
    return calls


def test_a_table_the_logs_read_from_it_and_a_store_are_the_same_history(table, store):
    histories = [ActiveHistory(source) for source in (table, str(table), read_logs(table), store, str(store), RUNS)]
    for history in histories:
        order = np.argsort(history.ids)
        assert np.array_equal(history.scores[:, order], HISTORY)
    assert len({history.fingerprint for history in histories[:5]}) == 1


def test_the_model_is_fitted_once_per_store(store, fits):
    first = ActiveHistory(store).predictor
    subset._fitted.cache_clear()
    second = ActiveHistory(store).predictor
    assert len(fits) == 1
    for name in ("intercepts", "loadings", "factors"):
        assert np.array_equal(getattr(first.model, name), getattr(second.model, name))
    samplers = [ActiveSampler(ActiveHistory(store), n_questions=50) for _ in range(2)]
    assert samplers[0].ask() == samplers[1].ask()


@pytest.mark.parametrize("content", [b"", b"damaged", b"PK\x03\x04"])
def test_a_damaged_model_is_fitted_again(store, fits, content):
    expected = ActiveHistory(store).predictor
    (path,) = (store / "models").iterdir()
    path.write_bytes(content)
    subset._fitted.cache_clear()
    assert np.array_equal(ActiveHistory(store).predictor.difficulties, expected.difficulties)
    assert len(fits) == 2


def test_the_store_remains_readable(store, capsys):
    _ = ActiveHistory(store).predictor
    capsys.readouterr()
    assert main(["store", "verify", str(store)]) == 0


def test_estimates_of_several_systems_share_a_fit(fits):
    sampler, ids, scores = evaluation(50)
    draws = [sampler.draw_of(one) for one in ids]
    logs = [log_of(f"new-{i}", ids, values, draws) for i, values in enumerate((scores, 1 - scores))]
    rows = estimate(logs, scope="full", reference_runs=RUNS)
    assert [row.method for row in rows] == ["active", "active"]
    assert len(fits) == 1


def test_gc_keeps_the_model_of_stored_scores_and_removes_those_of_other_scores(table, store, capsys):
    _ = ActiveHistory(store).predictor
    _ = ActiveHistory(store, range=(-1.0, 1.0)).predictor
    (store / "models" / "damaged.npz").write_bytes(b"PK")
    kept = {path.name for path in (store / "models").iterdir()} - {"damaged.npz"}
    assert main(["store", "gc", str(store)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "1"
    assert {path.name for path in (store / "models").iterdir()} == kept
    more = table.with_name("more.csv")
    more.write_text("system,task,id,score\n" + "".join(f"later,sums,{question},1\n" for question in IDS))
    assert main(["estimate", str(more), "--store", str(store), "--format", "json"]) == 0
    newest = ActiveHistory(store).fingerprint
    _ = ActiveHistory(store).predictor
    assert main(["store", "gc", str(store)]) == 0
    assert [path.name.startswith(newest) for path in (store / "models").iterdir()] == [True]


def test_gc_removes_all_models_if_their_logs_are_deleted(table, store):
    _ = ActiveHistory(store).predictor
    table.unlink()
    assert main(["store", "gc", str(store)]) == 0
    assert not list((store / "models").iterdir())
