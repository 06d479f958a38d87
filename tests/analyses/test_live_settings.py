"""Settings of a harness run, which are the same in every harness."""

import pytest

from harness_uq import HarnessUqError, UsageError
from harness_uq.analyses.live_settings import LiveSettings, live_method, with_run_names
from harness_uq.io.readers import read_logs
from harness_uq.io.settings_file import SettingsError
from harness_uq.options import LIVE_OPTIONS, LiveOption


@pytest.mark.parametrize(("name", "value"), [("level", "95"), ("reference_runs", ""), ("rounds", "0")])
def test_an_error_begins_with_the_option_as_it_is_typed(name, value):
    with pytest.raises(SettingsError, match=f"^--uq-{name.replace('_', '-')}: Invalid {name}"):
        LiveSettings.parse({name: value})


def test_every_option_sets_a_setting_and_has_a_line_of_help():
    assert {option.name for option in LIVE_OPTIONS} <= LiveSettings.__dataclass_fields__.keys()
    assert max(len(option.help_line) for option in LIVE_OPTIONS) <= 80


@pytest.mark.parametrize(("value", "method"), [("off", None), ("0", None), ("1", "bayes"), ("wilson", "wilson")])
def test_a_method_can_switch_the_intervals_off_or_on(value, method):
    assert live_method(value) == method


FIELDS = {"drop": ["passage", "topic"], "gsm8k": ["topic"]}


@pytest.mark.parametrize("cluster", ["topic", "passage", "drop=passage+topic", "none", "prompt_prefix", "other=nosuch"])
def test_a_cluster_field_of_one_task_is_valid(cluster):
    LiveSettings(cluster=(cluster,)).check_cluster_fields(FIELDS)


@pytest.mark.parametrize("cluster", ["topik", "gsm8k=topik", "topik+passage"])
def test_an_unknown_cluster_field_is_an_error_with_a_suggestion(cluster):
    with pytest.raises(UsageError, match=r"Unknown field in --uq-cluster: 'topik'. Did you mean 'topic'\?"):
        LiveSettings(cluster=(cluster,)).check_cluster_fields(FIELDS)


def test_a_comparison_names_the_run_and_the_path_of_the_other(tmp_path):
    rows = ("question,system,score", *(f"q{i},model,{i % 2}" for i in range(20)))
    (tmp_path / "old.csv").write_text("\n".join(rows))
    path = str(tmp_path / "old.csv")
    settings = LiveSettings(compare=path)
    (row,) = settings.compared(read_logs(path).logs)
    assert (row.system_a, row.system_b) == ("model", "model")
    (printed,) = with_run_names([row], path)
    assert (printed.system_a, printed.system_b) == ("this run", path)


def test_live_options_are_instances_of_their_class():
    assert all(isinstance(option, LiveOption) for option in LIVE_OPTIONS)


def test_a_run_is_compared_with_the_other_runs_of_its_folder(tmp_path):
    rows = [f"q{i},{i % 2}" for i in range(20)]
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_text("\n".join(["question,score,model", *(f"{row},{name}" for row in rows)]))
    logs = read_logs(str(tmp_path / "new.csv")).logs
    (row,) = LiveSettings(compare=str(tmp_path)).compared(logs)
    assert (row.system_a, row.system_b) == ("new", "old")
    (tmp_path / "old.csv").unlink()
    with pytest.raises(HarnessUqError, match="contains no other run"):
        LiveSettings(compare=str(tmp_path)).compared(logs)


def test_a_method_that_does_not_estimate_the_estimand_is_refused_before_the_run():
    LiveSettings(method="pass-k", estimand="pass@2").check()
    with pytest.raises(UsageError, match="'clustered-wilson' estimates means, not pass@2"):
        LiveSettings(method="clustered-wilson", estimand="pass@2").check()
