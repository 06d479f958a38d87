"""Cost, tokens and time: metrics, totals and ratios, from logs to commands."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness_uq
from harness_uq import LogError, compare, estimate, resource_use
from harness_uq.commands.main import main
from harness_uq.data.resources import ModelPrice, ResourceOptions, Resources, TokenUsage, cost_of
from harness_uq.data.task_log import Questions, Scores, Source, TaskLog, with_resource_metrics
from harness_uq.inference.load_plugins import load_plugins
from harness_uq.io.plugins.protocols import ReadsResources
from harness_uq.io.prices import PriceTable, PublicPrices, read_prices
from harness_uq.messages.errors import DataError
from tests.adapters.inspect.environment import run_with_uq
from tests.message_checks import has, names_of

NAN = float("nan")
PRICED_RUN = Path(__file__).parent / "adapters/inspect/read/priced_run.py"


def column(*values):
    return np.array(values, float)[:, None]


def log_with(resources, scores=(1, 0, 1)):
    questions = Questions(tuple(map(str, range(len(scores)))))
    return TaskLog(
        "m", "t", Source("f", "inspect"), questions, (Scores("acc", "none", column(*scores)),), resources=resources
    )


def metrics_of(resources, prices=None):
    log = with_resource_metrics(log_with(resources), ResourceOptions(prices))
    return {data.metric: data.values[:, 0] for data in log.data[1:]}, log


# ---------------------------------------------------------------- metrics


def test_each_resource_is_a_metric_of_which_less_is_better():
    metrics, log = metrics_of(Resources(cost=column(1, 2, 3), total_time=column(4, 5, 6)))
    assert list(metrics) == ["cost", "total_time"]
    assert log.higher_is_better == {"cost": False, "total_time": False}
    assert has(log, "cost-logged")


def test_the_grader_is_not_part_of_the_system():
    tokens = {"input_tokens": column(1, 2, 3), "output_tokens": column(1, 1, 1)}
    usage = (TokenUsage("m", cost=column(1, 2, 3), **tokens), TokenUsage("g", True, cost=column(9, 9, 9), **tokens))
    metrics, _ = metrics_of(Resources(usage))
    assert (metrics["cost"].tolist(), metrics["grader_cost"].tolist()) == ([1, 2, 3], [9, 9, 9])


def test_an_unknown_price_makes_the_cost_unknown_where_the_model_was_used():
    usage = (
        TokenUsage("known", input_tokens=column(1e6, 1e6, 1e6), output_tokens=column(0, 0, 0)),
        TokenUsage("new", input_tokens=column(5, 0, NAN), output_tokens=column(5, 0, NAN)),
    )
    metrics, log = metrics_of(Resources(usage), PriceTable({"known": ModelPrice(2, 8)}, "prices.toml"))
    np.testing.assert_array_equal(metrics["cost"], [NAN, 2, NAN])
    assert has(log, "price-unknown", models=("new",), origin="prices.toml")
    assert has(log, "cost-from-prices", models=("known",))


def test_without_prices_the_cost_of_tokens_is_unknown():
    metrics, log = metrics_of(
        Resources((TokenUsage("m", input_tokens=column(1, 2, 3), output_tokens=column(1, 1, 1)),))
    )
    assert "cost" not in metrics
    assert has(log, "price-unknown", models=("m",))


def test_cached_tokens_have_their_own_price():
    usage = TokenUsage(
        "m", input_tokens=[[3e6]], output_tokens=[[1e6]], cache_read_tokens=[[1e6]], cache_write_tokens=[[1e6]]
    )
    assert cost_of(usage, ModelPrice(2, 8, 0.5, 2.5)) == pytest.approx(2 + 0.5 + 2.5 + 8)
    assert cost_of(usage, ModelPrice(2, 8)) == pytest.approx(3 * 2 + 8)


def test_a_metric_of_the_log_keeps_its_name():
    log = log_with(Resources(cost=column(1, 2, 3)))
    log = with_resource_metrics(
        TaskLog(
            log.system,
            log.task,
            log.source,
            log.questions,
            (Scores("cost", "none", column(1, 0, 1)),),
            resources=log.resources,
        ),
        ResourceOptions(),
    )
    assert [data.metric for data in log.data] == ["cost", "cost (resource)"]


def test_numbers_of_turns_are_not_shares():
    metrics, _ = metrics_of(Resources(turns=column(0, 1, 1)))
    assert list(metrics) == ["turns"]
    log = with_resource_metrics(log_with(Resources(turns=column(0, 1, 1))), ResourceOptions())
    row = estimate(log, metric="turns")[0]
    assert row.structure.score_type == "real"


def test_a_constant_number_of_messages_is_omitted_but_not_a_constant_cost():
    metrics, _ = metrics_of(Resources(messages=column(2, 2, 2), cost=column(1, 1, 1)))
    assert list(metrics) == ["cost"]


def test_a_log_does_not_accept_resources_of_other_questions():
    with pytest.raises(DataError):
        log_with(Resources(cost=column(1, 2)))


# ---------------------------------------------------------------- prices


def prices_file(folder, text):
    path = folder / "prices.toml"
    path.write_text(text)
    return str(path)


def test_prices_are_found_with_and_without_the_provider(tmp_path):
    prices = read_prices(
        prices_file(tmp_path, '["lab/a"]\ninput = 1\noutput = 2\n[b]\ninput = 3\noutput = 4\ncached = 0.5')
    )
    assert prices.price_of("lab/a", None) == ModelPrice(1, 2)
    assert prices.price_of("lab/b", None) == ModelPrice(3, 4, 0.5)
    assert prices.price_of("a", None) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[a",
        "a = 1",
        "[a]\ninput = 1",
        "[a]\ninput = -1\noutput = 2",
        "[a]\ninput = nan\noutput = 2",
        '[a]\ninput = "1"\noutput = 2',
        "[a]\ninput = true\noutput = 2",
        "[a]\ninput = 1\noutput = 2\nprice = 3",
    ],
)
def test_invalid_prices_are_an_error(text, tmp_path):
    with pytest.raises(LogError) as caught:
        read_prices(prices_file(tmp_path, text))
    assert names_of([caught.value.message]) == ["prices-invalid"]


def test_a_missing_file_of_prices_is_an_error(tmp_path, capsys):
    with pytest.raises(LogError) as caught:
        read_prices(str(tmp_path / "none.toml"))
    assert names_of([caught.value.message]) == ["prices-invalid"]
    assert main(["estimate", str(tmp_path), "--token-prices", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


def test_public_prices_need_no_network_and_name_their_date():
    pytest.importorskip("genai_prices")
    prices = PublicPrices()
    # list prices of OpenAI in 2025: 2.50 and 10.00 dollars per million tokens, 1.25 for cached input
    assert prices.price_of("openai/gpt-4o", "2025-06-01T00:00:00+00:00") == ModelPrice(2.5, 10.0, 1.25, 2.5)
    assert prices.price_of("nobody/unheard-of", None) is None
    assert "genai-prices" in prices.origin


# ---------------------------------------------------------------- totals and ratios


@pytest.fixture
def agents():
    rng = np.random.default_rng(1)
    n = 60
    frames = []
    for model, p, scale in (("large", 0.8, 3.0), ("small", 0.5, 1.0)):
        rows = {
            "model": model,
            "item": range(n),
            "correct": rng.random(n) < p,
            "cost": scale * rng.lognormal(0, 0.5, n),
        }
        frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True)


def by_quantity(rows, **where):
    return {row.quantity: row for row in rows if all(getattr(row, name) == value for name, value in where.items())}


def test_ratios_and_totals_of_a_system(agents):
    rows = by_quantity(resource_use(agents), system="large")
    large = agents[agents.model == "large"]
    assert rows["total_cost"].value == pytest.approx(large.cost.sum())
    assert rows["cost_per_solved"].value == pytest.approx(large.cost.sum() / large.correct.sum())
    inverse = rows["score_per_dollar"]
    assert inverse.value * rows["cost_per_solved"].value == pytest.approx(1)
    assert (inverse.low, inverse.high) == pytest.approx(
        (1 / rows["cost_per_solved"].high, 1 / rows["cost_per_solved"].low)
    )
    for row in rows.values():
        assert 0 < row.low < row.value < row.high


def test_a_comparison_has_the_ratios_of_both_systems(agents):
    systems = [agents[agents.model == name] for name in ("large", "small")]
    rows = by_quantity(resource_use(*systems))
    per_solved = [by_quantity(resource_use(one))["cost_per_solved"].value for one in systems]
    assert rows["cost"].value == pytest.approx(systems[0].cost.mean() / systems[1].cost.mean())
    assert rows["cost_per_solved"].value == pytest.approx(per_solved[0] / per_solved[1])
    swapped = by_quantity(resource_use(*reversed(systems)))
    for quantity, row in rows.items():
        other = swapped[quantity]
        assert (row.low, row.high) == pytest.approx((1 / other.high, 1 / other.low))


def test_pairing_narrows_the_ratio_of_equally_difficult_questions(agents):
    systems = [agents[agents.model == name].reset_index(drop=True) for name in ("large", "small")]
    alike = systems[0].assign(cost=3 * systems[1].cost * np.random.default_rng(2).lognormal(0, 0.05, 60))
    loose, tight = (by_quantity(resource_use(one, systems[1]))["cost"] for one in (systems[0], alike))
    assert np.log(tight.high / tight.low) < 0.3 * np.log(loose.high / loose.low)


def test_a_system_compared_with_itself_has_a_ratio_near_1(agents):
    small = agents[agents.model == "small"]
    for row in resource_use(small, small):
        assert row.value == pytest.approx(1)
        assert 0.9 < row.low <= 1 <= row.high < 1.1


def test_without_a_solved_question_there_is_no_upper_limit(agents):
    row = by_quantity(resource_use(agents.assign(correct=0)), system="small")["cost_per_solved"]
    assert (row.value, row.high, row.is_unbounded, row.status) == (None, None, True, "ok")
    assert row.low > 0
    assert has(row, "nothing-solved")


def test_one_solved_question_gives_an_upper_limit(agents):
    row = by_quantity(resource_use(agents.assign(correct=agents.item == 0)), system="small")["cost_per_solved"]
    assert row.value < row.high < 1e4


def test_heavy_tails_of_few_questions_are_reported(agents):
    costs = np.random.default_rng(3).lognormal(0, 2, len(agents))
    assert has(by_quantity(resource_use(agents.assign(cost=costs)))["total_cost"], "heavy-tail", n_units=60)


def test_clusters_widen_the_interval(agents):
    small = agents[agents.model == "small"]
    copies = pd.concat([small.assign(item=small.item + 100 * k, passage=small.item) for k in range(4)])
    alone, clustered = (
        by_quantity(resource_use(copies, cluster=name))["cost_per_solved"] for name in ("none", "passage")
    )
    single = by_quantity(resource_use(small))["cost_per_solved"]
    assert clustered.n_clusters == 60
    assert np.log(clustered.high / clustered.low) == pytest.approx(np.log(single.high / single.low), rel=0.1)
    assert np.log(alone.high / alone.low) < 0.6 * np.log(clustered.high / clustered.low)


def test_trials_of_a_question_are_not_independent(agents):
    small = agents[agents.model == "small"]
    copies = pd.concat([small.assign(trial=k, cost=small.cost * (1 + k / 100)) for k in range(4)])
    rows = [by_quantity(resource_use(one))["cost_per_solved"] for one in (small, copies)]
    widths = [np.log(row.high / row.low) for row in rows]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert by_quantity(resource_use(copies))["total_cost"].value == pytest.approx(copies.cost.sum())


def test_trials_without_a_score_are_counted_apart(agents):
    small = agents[agents.model == "small"].reset_index(drop=True)
    partial = small.assign(correct=small.correct.astype(float).where(small.index > 4))
    rows = by_quantity(resource_use(partial))
    assert rows["total_cost"].value == pytest.approx(small.cost.sum())
    assert rows["cost_per_solved"].n_questions == 55
    assert has(rows["cost_per_solved"], "unscored-cost", n_trials=5)


def test_a_table_without_resources_says_so(agents):
    (row,) = resource_use(agents[agents.model == "small"].drop(columns="cost"))
    assert (row.value, row.status) == (None, "not_estimable")
    assert has(row, "no-resources", harness="table")


# ---------------------------------------------------------------- dominated systems


def test_a_worse_and_dearer_system_is_dominated(agents):
    worse = agents[agents.model == "large"].assign(model="poor", correct=0.0, cost=9.0 + np.arange(60) / 60)
    rows = by_quantity(resource_use(pd.concat([agents, worse])), quantity="cost_per_solved", system="poor")
    row = rows["cost_per_solved"]
    assert row.prob_dominated > 0.99
    assert row.dominated_by in ("large", "small")


def test_the_cheapest_and_the_best_system_are_not_dominated(agents):
    rows = resource_use(agents)
    probabilities = {row.system: row.prob_dominated for row in rows if row.quantity == "cost_per_solved"}
    assert max(probabilities.values()) < 0.05


def test_equal_systems_dominate_each_other_with_equal_probability(agents):
    small = agents[agents.model == "small"]
    order = np.random.default_rng(4).permutation(60)
    twin = small.assign(model="twin", correct=small.correct.to_numpy()[order], cost=small.cost.to_numpy()[order])
    rows = [row for row in resource_use(pd.concat([small, twin])) if row.quantity == "cost_per_solved"]
    # of four equally likely orders of two scores and two costs, one makes a system dominated
    np.testing.assert_allclose([row.prob_dominated for row in rows], 0.25, atol=0.06)


def test_the_probability_of_one_system_alone_is_unknown(agents):
    assert by_quantity(resource_use(agents, model="small"))["cost_per_solved"].prob_dominated is None


# ---------------------------------------------------------------- functions and commands


def test_estimates_and_comparisons_include_resources_on_request(agents):
    assert [row.metric for row in estimate(agents, model="small")] == ["correct"]
    assert [row.metric for row in estimate(agents, model="small", resources=True)] == ["correct", "cost"]
    systems = [agents[agents.model == name] for name in ("large", "small")]
    _, cost = compare(*systems, resources=True)
    assert (cost.metric, cost.higher_is_better, cost.verdict) == ("cost", False, "worse")


def test_the_cheapest_system_is_ranked_first(agents):
    (ranking,) = harness_uq.rank(agents, resources=True, metric="cost")
    assert ranking.systems[0].system == "small"


@pytest.mark.parametrize("command", ["estimate", "compare"])
def test_commands_print_resources(command, agents, tmp_path, capsys):
    path = tmp_path / "agents.csv"
    agents.to_csv(path, index=False)
    assert main([command, str(path), "--resources", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["resource_use"]
    assert {"cost_per_solved"} <= {row["quantity"] for row in rows}
    assert main([command, str(path), "--resources"]) == 0
    assert "cost per solved question" in capsys.readouterr().out


def test_the_report_shows_scores_against_costs(agents, tmp_path):
    path, page = tmp_path / "agents.csv", tmp_path / "report.html"
    agents.assign(model=agents.model + "<b>").to_csv(path, index=False)
    assert main(["report", str(path), "--resources", "--output", str(page)]) == 0
    text = page.read_text()
    assert 'id="resources"' in text
    assert 'class="pareto"' in text
    assert "<b>:" not in text
    colours = dict(re.findall(r'<line class="interval c(\d+)"[^>]*/><svg x="13".*?</svg></svg>(\w+)', text))
    assert len(colours) == 2
    pareto = text[text.index('class="pareto"') :]
    for colour, system in colours.items():
        assert re.search(rf'aria-label="{system}&lt;b&gt;: [^"]*"><line class="limit c{colour}"', pareto)
    assert harness_uq.report(agents, resources=True).resource_use[0].quantity == "total_cost"
    assert harness_uq.report(agents).resource_use == ()


def test_small_costs_are_printed_with_enough_digits(agents, tmp_path, capsys):
    path = tmp_path / "agents.csv"
    agents.assign(cost=agents.cost / 10_000).to_csv(path, index=False)
    assert main(["estimate", str(path), "--resources", "--model", "small", "--format", "markdown"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "| cost |" in line]
    value = agents[agents.model == "small"].cost.mean() / 10_000
    assert f"{value:.7f}" in line


def test_tasks_without_resources_have_no_table(agents, tmp_path, capsys):
    path = tmp_path / "agents.csv"
    agents.drop(columns="cost").to_csv(path, index=False)
    assert main(["estimate", str(path), "--resources", "--notes"]) == 0
    out = capsys.readouterr().out
    assert "UQ805" in out
    assert "Resource " not in out


def test_resources_are_not_stored(agents, tmp_path, capsys):
    path = tmp_path / "agents.csv"
    agents.to_csv(path, index=False)
    assert main(["estimate", str(path), "--resources", "--store", str(tmp_path / "store")]) == 2


@pytest.fixture(scope="module")
def priced_log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("priced")
    run_with_uq(sys.executable, PRICED_RUN, folder, cwd=folder, HARNESS_UQ=None)
    (path,) = folder.glob("*.eval")
    return path


@pytest.mark.harness
def test_logged_costs_agree_with_tokens_at_the_same_prices(priced_log, tmp_path):
    """Inspect's `set_model_cost` and a file of prices with the same rates."""
    from harness_uq_inspect.harness import InspectHarness
    from tests.adapters.inspect.read.priced_run import RATES

    names = ("input", "output", "cached", "cache_write")
    tables = [
        f'["{model}"]\n' + "\n".join(f"{n} = {r}" for n, r in zip(names, rates, strict=True))
        for model, rates in RATES.items()
    ]
    prices = read_prices(prices_file(tmp_path, "\n".join(tables)))
    reader = InspectHarness().with_resources(ResourceOptions())
    (log,) = harness_uq.io.readers.read_logs([str(priced_log)], harnesses={"inspect": reader}).logs
    for usage in log.resources.usage:
        np.testing.assert_allclose(cost_of(usage, prices.price_of(usage.model, None)), usage.cost, rtol=1e-12)
    rows = by_quantity(resource_use(str(priced_log)))
    assert rows["total_cost"].value == pytest.approx(log.resources.usage[0].cost.sum())


@pytest.mark.parametrize("harness", ["inspect", "table", "harbor", "terminal-bench", "helm", "lighteval"])
def test_readers_read_resources_on_request(harness):
    reader = load_plugins().harnesses[harness]
    assert isinstance(reader, ReadsResources)
    assert reader.resources is None
    assert reader.with_resources(ResourceOptions()).resources == ResourceOptions()
