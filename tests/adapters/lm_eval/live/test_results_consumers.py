"""Programs that read lm-eval's results can read them with the `uq` block, too."""

import copy
import json

import pytest

pytest.importorskip("lm_eval")

from tests.adapters.lm_eval.live import live_runs

pytestmark = [pytest.mark.harness, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def bare(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_lm_evals_own_table_has_the_same_rows(stock_results, live_results):
    from lm_eval.utils import make_table

    ours, theirs = (make_table(copy.deepcopy(r)).splitlines() for r in (live_results, stock_results))
    assert [bare(line)[:7] for line in ours if set(line) - set("|-: ")] == [
        bare(line)[:7] for line in theirs if set(line) - set("|-: ")
    ]


def test_wandb_logs_the_same_scalars(stock_results, live_results):
    wandb = pytest.importorskip("lm_eval.loggers.wandb_logger")

    def logged(results):
        logger = wandb.WandbLogger.__new__(wandb.WandbLogger)
        logger.results = copy.deepcopy(results)
        logger.task_names = list(results["results"])
        logger.group_names = list(results.get("groups", {}))
        return logger._sanitize_results_dict()

    # a standard error is a scalar if it is a number, else a summary; nothing else may change
    for ours, theirs in zip(logged(live_results), logged(stock_results), strict=True):
        assert values_only(ours) == values_only(theirs)


def values_only(tree):
    return {key for key in keys(tree) if "_stderr" not in key[-1]}


def keys(tree):
    return {
        (name, *inner) for name, value in tree.items() for inner in (keys(value) if isinstance(value, dict) else [()])
    }


def test_the_results_file_can_be_loaded_as_a_data_set(live_results, live_folder, tmp_path):
    from datasets import load_dataset

    path = live_runs.save(copy.deepcopy(live_results), live_folder, tmp_path / "out")
    loaded = load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded["results"][0]["live_perfect"]["acc,none"] == 1.0


def test_converters_find_every_metric_with_a_number_or_na(live_results):
    """The keys that every_eval_ever reads: `results[task]["<metric>,<filter>"]` and `<metric>_stderr,<filter>`."""
    tree = live_runs.as_json(live_results)
    for row in tree["results"].values():
        for key, value in row.items():
            metric, comma, filter_name = key.partition(",")
            if comma and not metric.endswith("_stderr"):
                assert isinstance(value, int | float)
                error = row[f"{metric}_stderr,{filter_name}"]
                assert error == "N/A" or isinstance(error, float)
    assert {"config", "configs", "n-samples", "higher_is_better"} <= tree.keys()


def test_the_block_is_json_without_nan(live_results):
    json.dumps(live_results["uq"], allow_nan=False)
