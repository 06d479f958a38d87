"""The HTML report: complete, escaped, self-contained, and looked at in a browser at desktop and phone width."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from harness_uq.inference.labels import METHOD_INFO as JUDGED
from harness_uq.inference.methods import harness_uq_estimators
from harness_uq.inference.subset import METHOD_INFO as PARTS
from harness_uq.output.figures.marks import marks_of
from harness_uq.output.html import forest_view
from harness_uq.results.method_texts import methods_used
from harness_uq.results.report_page import best_first, ratio_table, reliability_view
from tests.message_checks import made
from tests.output.rendering import render, report_html
from tests.results import factory as make

BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 120_000  # milliseconds, on a busy machine
WIDTHS = {"desktop": 1280, "phone": 390, "narrow phone": 360}


def full_report(**changes):
    return report_html(
        **{
            "estimates": make.estimates(),
            "comparisons": make.comparisons(),
            "rankings": [make.ranking(8)],
            "plans": [make.plan()],
            **changes,
        }
    )


def long_report():
    rows = [make.estimate(system=system, task=f"subject_{k}") for k in range(40) for system in make.SYSTEMS]
    return full_report(estimates=rows, rankings=[make.ranking(60)])


def one_systems_report():
    return report_html([row for row in make.estimates() if row.system == make.SYSTEMS[0]], plans=[make.plan()])


def pairs_report():
    return report_html(make.estimates(), make.comparisons())


def ranked_report():
    rankings = [replace(make.ranking(6), task=f"task_{k}") for k in range(5)]
    return report_html([make.estimate(system=f"s{k}", task=t) for t in "xy" for k in range(6)], (), rankings)


def history_report():
    return report_html([], histories=[make.history(), make.history(task="other")])


AXE_PAGES = {
    "history": history_report,
    "estimates": one_systems_report,
    "comparison": pairs_report,
    "ranking": ranked_report,
    "long": long_report,
}


class Page(HTMLParser):
    """Tags with their attributes, in order."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, *names):
        return [attrs for tag, attrs in self.tags if tag in names]


# ---------------------------------------------------------------- the file itself


def test_the_page_refers_to_nothing_outside_itself():
    page = Page(full_report())
    targets = [attrs[name] for _, attrs in page.tags for name in ("src", "href", "action", "data") if name in attrs]
    assert targets
    assert all(target.startswith("#") or target == "data:," for target in targets)
    assert not page.all("script", "iframe", "object", "embed", "img")
    style = re.search(r"<style>(.*?)</style>", full_report(), re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_the_table_of_a_comparison_has_the_columns_of_markdown_with_the_verdict_beside_the_interval() -> None:
    page = report_html([], make.comparisons())
    table = page[page.index("Differences by task.") :].partition("</table>")[0]
    cells = re.findall(r'<th[^>]*scope="col"[^>]*>(.*?)</th>', table)
    headers = [unescape(re.sub("<.*?>", "", cell)).replace("\xa0", " ") for cell in cells]
    markdown = next(line for line in render(make.comparisons(), "markdown").splitlines() if line.startswith("| Task"))
    assert sorted(headers) == sorted(cell.strip() for cell in markdown.strip("|").split("|"))
    assert headers[headers.index("95% interval") + 1] == "Verdict"


def test_every_link_leads_to_a_place_on_the_page_and_ids_are_unique():
    page = Page(full_report())
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = {attrs["href"][1:] for attrs in page.all("a")}
    wanted |= {name for _, attrs in page.tags for name in attrs.get("aria-labelledby", "").split()}
    assert wanted <= set(ids)


def test_headings_descend_one_level_at_a_time():
    levels = [int(tag[1]) for tag, _ in Page(full_report()).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_drawing_has_words_and_every_wide_table_takes_the_keyboard():
    page = Page(full_report())
    assert page.all("html") == [{"lang": "en"}]
    assert all(a.get("aria-hidden") == "true" or (a.get("role") == "img" and a["aria-label"]) for a in page.all("svg"))
    assert all(attrs.get("tabindex") == "0" for attrs in page.all("div") if attrs.get("class") == "scroll")
    assert all("scope" in attrs for attrs in page.all("th"))


def test_texts_from_results_are_escaped_everywhere():
    bad = '<script>alert("x")</script>&\'"'
    bad_messages = (made(bad), made(bad, "note"))
    estimate = make.estimate(
        system=bad, task=bad, metric=bad, filter_name=bad, messages=bad_messages, method=bad, cluster_key=bad
    )
    ranking = make.ranking(2)
    ranking = replace(
        ranking, task=bad, messages=bad_messages, systems=(replace(ranking.systems[0], system=bad, letters=bad),) * 2
    )
    comparison = replace(make.comparison(), system_a=bad, task=bad, verdict_text=bad, method=bad, messages=bad_messages)
    plan = replace(make.plan(), answer=bad, messages=bad_messages)
    page = report_html([estimate], [comparison], [ranking], [plan], title=bad)
    assert page.count("&lt;script&gt;") > 20
    assert "<script" not in page


def test_every_number_has_its_estimand_evidence_and_warnings():
    text = full_report()
    for part in (
        "mean, population: expected score on new questions of the same kind",
        "25 passage (catalogue of known tasks)",
        "The 25 clusters (defined by passage) differ so much in size",
        "(UQ179)",
        "answers with the same passage are correlated (× 2.02)",
        "[0.6819, 0.8313]",
        "The data do not show which is better",
        "800 questions with one trial each",
        "All pairs: probability, in per cent",
        "71:50",
        "The intervals do not account for errors of a grader, for errors in the answer key, or for contamination",
        "Bowyer, S., Aitchison, L. &amp; Ivanova, D. R. (2025)",
    ):
        assert part in text.replace("&#39;", "'"), part


def test_a_judge_that_labels_correct_is_said_to_have_its_errors_in_the_interval():
    text = report_html([make.estimate(method="judge-corrected", diagnostics={"n_labels": 60.0}, info=JUDGED)])
    assert "Only the intervals of scores corrected with human labels account for errors of the grader" in text
    assert "The intervals do not account for errors of a grader" not in text
    assert "Efficient prediction-powered inference" in text


def test_the_appendix_knows_the_methods_of_labels_and_of_parts():
    rows = [make.estimate(method=info.title, info=info) for info in (JUDGED, PARTS)]
    assert all(method.formula and method.text and "(" in method.sources[0] for method in methods_used(rows))


def test_a_fact_shared_by_all_systems_is_said_once_and_another_names_its_system():
    rows = [make.estimate(system="a"), make.estimate(system="b", messages=(made("Only b."),))]
    text = report_html(rows)
    assert text.count("questions count as independent") == 1
    assert 'Only b. (XX001) <span class="who">(b)</span>' in text


def top(text):
    return text[text.index("<main") : text.index('<nav aria-label="Contents"')]


def test_many_rankings_have_one_answer_on_the_first_screen():
    rankings = [replace(make.ranking(4), task=f"task_{k}") for k in range(6)]
    said = top(report_html(make.estimates(), (), rankings))
    assert f"Best score in 6 rankings: {make.SYSTEMS[1]} in 6." in unescape(said)
    assert "In none of them, the ranks of no other system include 1." in said


def test_many_comparisons_list_their_tasks_by_verdict_on_the_first_screen():
    rows = [make.comparison(task=f"t{k}", verdict="better" if k < 2 else "undecided") for k in range(6)]
    said = re.sub("<[^>]*>", "", top(report_html([], rows)))
    assert "Of 6 tasks, 2 are better and 4 are undecided" in said
    assert "better t0; t1" in said
    assert "undecided t2; t3; t4; t5" in said


@pytest.mark.parametrize("n", [2, 6])
def test_that_both_sides_are_one_is_the_first_that_the_page_says(n):
    same = "Both sides have the same scores on all 40 questions, both of one log."
    rows = [replace(make.comparison(task=f"t{k}", verdict="undecided"), identical_runs_note=same) for k in range(n)]
    said = re.sub("<[^>]*>", "", top(report_html([], rows)))
    assert said.strip().startswith(same)
    assert said.count(same) == 1


def test_one_system_alone_opens_with_its_scores():
    row = make.estimate()
    low, high = row.interval.low, row.interval.high
    assert f"scores 0.8000 (95 % interval: {low:.4f} to {high:.4f})." in top(report_html([row]))


def test_the_first_screen_says_what_the_numbers_rest_on_and_how_the_page_was_made():
    text = full_report(command="harness-uq report runs", date="2026-01-02")
    said = re.sub("<[^>]*>", " ", top(text))
    for part in (
        "20 to 500 questions per task",
        "25 clusters (passage) in 2 of 12 scores",
        "population: expected score on new questions",
        "lm-eval 0.4.13, of 2025-05-01",
    ):
        assert part in said, part
    assert "Created 2026-01-02 by harness_uq" in text
    assert "<code>harness-uq report runs</code>" in text


def test_no_folder_of_the_machine_and_no_python_error_reaches_the_page():
    source = replace(make.SOURCE, path="/home/ann b/runs/a.json")
    warning = "beta failed: ValueError: bad (solve.py, line 7); no scores in /home/ann/x.json"
    text = report_html([replace(make.estimate(), source=source, messages=(made(warning), made(warning, "note")))])
    assert "/home" not in text
    assert "ValueError" not in text
    assert "a.json (lm-eval" in text
    assert text.count("beta failed: an unforeseen error; no scores in x.json") == 3


def test_scores_stand_best_first_within_their_task():
    low, high = make.estimate(system="low", successes=100), make.estimate(system="high", successes=150)
    assert best_first([low, high], (), ()) == [high, low]
    down = make.comparison(task=low.task, higher_is_better=False)
    assert best_first([high, low], [down], ()) == [low, high]
    unknown = replace(low, system="unknown", value=None)
    assert best_first([unknown, low], (), ())[-1] is unknown


def test_a_system_keeps_its_mark_in_every_task():
    rows = [make.estimate(system=s, task=t, successes=n) for t, n in (("x", 90), ("y", 150)) for s in ("a", "b")]
    figure = forest_view(marks_of(rows), ["a", "b"])
    (panel,) = figure["panels"]
    marks = {(mark.label, figure["styles"][mark.system].colour) for _, marks in panel.groups for mark in marks}
    assert marks == {("a", 0), ("b", 1)}
    assert figure["systems"] == ["a", "b"]


def test_an_axis_of_bounded_scores_ends_at_their_bound_also_where_the_harness_goes_beyond():
    (panel,) = forest_view(marks_of([make.estimate(successes=199)]))["panels"]
    ((_, (mark,)),) = panel.groups
    place, text, _ = panel.tick_marks[-1]
    assert float(text) == 1
    assert place == panel.place(mark.reference[1]) == 100


def test_what_holds_of_every_task_is_said_once():
    rows = [make.estimate(task=task, messages=(made("Seen everywhere."),)) for task in ("x", "y", "z")]
    rows.append(make.estimate(task="z", metric="other", messages=(made("Seen everywhere."), made("Only here."))))
    everywhere, *tasks = reliability_view(rows)
    assert everywhere.title == "All tasks"
    assert everywhere.n_warnings == 1
    assert [(task.title, task.n_warnings) for task in tasks] == [("z, other", 1)]
    (alone,) = reliability_view(rows[:1])
    assert alone.title == "x, acc"


def test_a_reason_of_every_row_is_said_once():
    rows = [make.estimate(task=task, harness_std_error=None) for task in "xyz"]
    view = ratio_table(rows)
    assert "Reason" not in view.headers
    assert "the harness reports no standard error" in view.caption


def test_sections_without_content_are_left_out():
    text = report_html([make.estimate()])
    assert 'id="scores"' in text
    assert not re.search(r'id="(comparisons|rankings|plans|variance)"', text)
    assert "<main" in report_html([])


def test_error_bars_of_a_harness_that_gives_none_are_not_spoken_of():
    rows = [make.estimate(system=system, harness_std_error=None) for system in make.SYSTEMS]
    assert 'id="ratio"' not in report_html(rows)
    assert "± harness" not in report_html(rows)
    assert 'id="ratio"' in report_html([*rows, make.estimate()])


@pytest.mark.parametrize("method", ["bayesian-bootstrap", "confusion"])
def test_a_comparison_of_metrics_that_are_no_averages_has_its_text(method):
    (found,) = methods_used([], [replace(make.comparison(), method=method)])
    assert found.formula
    assert found.sources
    assert "plugin" not in found.text


def test_the_appendix_knows_every_method_that_the_package_offers():
    offered = list(harness_uq_estimators())
    used = methods_used([make.estimate(method=estimator.name, info=estimator.info) for estimator in offered])
    assert [method.name for method in used] == [estimator.name for estimator in offered]
    assert all(method.title and method.formula and method.text and method.sources for method in used)


def test_a_method_of_a_plugin_is_named_without_a_formula():
    (method,) = methods_used([make.estimate(method="theirs")])
    assert (method.title, method.formula) == ("theirs", "")
    assert "plugin" in method.text


# ---------------------------------------------------------------- scores over time


def test_each_run_of_a_history_is_drawn_with_its_numbers_in_words():
    row = make.history()
    page = Page(history_report())
    words = [attrs["aria-label"] for attrs in page.all("g") if attrs.get("role") == "img"]
    assert len(words) == 2 * len(row.runs)
    assert words[0] == "Run 1 of 2026-11-01 03:00: 0.8000, interval from 0.7600 to 0.8400"
    assert words[4].endswith("; changed: revision: a → b")
    heights = [float(attrs["cy"]) for attrs in page.all("circle")[: len(row.runs)]]
    values = [run.value for run in row.runs]
    assert np.argsort(heights).tolist() == np.argsort([-value for value in values]).tolist()


def test_a_history_marks_changes_of_the_score_and_of_the_configuration():
    page = Page(history_report())
    assert len([1 for attrs in page.all("line") if attrs.get("class") == "shift"]) == 2
    assert len([1 for attrs in page.all("line") if attrs.get("class") == "configured"]) == 2
    text = history_report()
    assert "Run 5: revision: a → b" in text
    assert "Flaky questions" in text


def test_the_headlines_of_many_histories_are_those_with_a_change():
    quiet = [replace(make.history(task=f"t{k}"), shifts=(), answer=f"quiet {k}") for k in range(6)]
    said = top(report_html([], histories=[*quiet, make.history()]))
    assert "dropped" in said
    assert "quiet 0" not in said
    assert "6 further histories do not show a change" in said
    assert "quiet 0" in top(report_html([], histories=quiet[:2]))


def test_names_in_a_history_are_escaped():
    bad = "<script>x</script>"
    row = make.history(system=bad, task=bad)
    row = replace(row, runs=tuple(replace(run, settings_changed=(bad,)) for run in row.runs))
    assert "<script" not in report_html([], histories=[row])


# ---------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=BROWSER_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """`open_page(text, width=…)` shows a report; afterwards nothing was logged and nothing requested but the file."""
    pages, heard = [], []

    def show(text, width=1280, colours="light"):
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=colours)
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield show
    for page in pages:
        page.close()
    assert heard == []


@pytest.mark.slow
@pytest.mark.parametrize("make_report", [full_report, long_report], ids=["full", "long"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_page_fits_the_screen(open_page, make_report, width):
    page = open_page(make_report(), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => [...document.querySelectorAll('body *')]
            .filter(e => !e.closest('.scroll') && !e.closest('.skip') && !e.closest('svg'))
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


CONTRASTS = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const over = (top, below) => { const a = top[3] ?? 1; return below.map((b, i) => a * top[i] + (1 - a) * b); };
  const backdrop = e => {
    const chain = []; for (let n = e; n; n = n.parentElement) chain.unshift(parse(getComputedStyle(n).backgroundColor));
    return chain.reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const linear = v => v <= 10 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const seen = {};
  for (const e of document.querySelectorAll('body *')) {
    const hasText = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!hasText || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), below = backdrop(e);
    const ink = over(parse(e instanceof SVGElement ? style.fill : style.color), below);
    const [a, b] = [light(ink), light(below)].sort((x, y) => y - x);
    const kind = n => n.getAttribute('class') || '';
    const name = `${e.tagName}.${kind(e)} in ${kind(e.parentElement)}`;
    seen[name] = Math.min(seen[name] ?? 99, (a + .05) / (b + .05));
  }
  return seen;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_text_has_a_contrast_of_at_least_four_and_a_half(open_page, colours):
    found = open_page(full_report(), colours=colours).evaluate(CONTRASTS)
    assert len(found) > 20
    assert {name: round(ratio, 2) for name, ratio in found.items() if ratio < 4.5} == {}


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_marks_stand_out_from_the_page(open_page, colours):
    # WCAG 2.1, 1.4.11: graphical objects need 3 to 1
    page = open_page(full_report(), colours=colours)
    marks = page.evaluate(
        """() => { document.body.insertAdjacentHTML('beforeend', ['interval', 'dot', 'zero', 'reference'].map(name => {
             const e = document.querySelector(name === 'reference' ? '.reference line' : '.' + name);
             return `<p style="color:${getComputedStyle(e).stroke}" class="mark">${name}</p>`; }).join('')); }"""
    )
    assert marks is None
    found = {name: ratio for name, ratio in page.evaluate(CONTRASTS).items() if name.startswith("P.mark")}
    assert len(found) == 1
    assert min(found.values()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("make_report", AXE_PAGES.values(), ids=AXE_PAGES)
def test_axe_finds_nothing_with_all_folds_open(browser, tmp_path, make_report):
    from axe_playwright_python.sync_playwright import Axe

    file = tmp_path / "report.html"
    file.write_text(make_report(), encoding="utf-8")
    # the page's own policy forbids the script
    page = browser.new_page(bypass_csp=True)
    page.set_default_timeout(PATIENCE)
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for width, colours in ((1280, "light"), (390, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=colours)
        # without this option, axe describes each of the thousands of elements that pass a rule
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response
        assert len(found["passes"]) > 20
        violations = {one["id"]: one["nodes"][0]["html"] for one in found["violations"]}
        assert violations == {}, f"{width} pixels, {colours}"
    page.close()


@pytest.mark.slow
def test_a_drawn_interval_spans_what_its_numbers_say(open_page):
    page = open_page(report_html([make.estimate(successes=150, n=200)]))
    track, dot = (page.locator(f".panel .line:not(.axis) {part}").first.bounding_box() for part in (".track", ".dot"))
    ticks = page.locator(".axis text").all_text_contents()
    low, high = float(ticks[0]), float(ticks[-1])
    shown = low + (high - low) * (dot["x"] + dot["width"] / 2 - track["x"]) / track["width"]
    assert shown == pytest.approx(0.75, abs=0.002)


@pytest.mark.slow
def test_wide_tables_scroll_by_keyboard(open_page):
    from playwright.sync_api import expect

    page = open_page(full_report(), 390)
    page.get_by_text("Scores with intervals, by task").click()
    region = page.get_by_role("region", name="Scores with intervals, by task")
    region.focus()
    page.keyboard.press("ArrowRight")
    # asked from outside the page: its policy forbids the script that `wait_for_function` polls with
    expect(region).not_to_have_js_property("scrollLeft", 0, timeout=PATIENCE)


@pytest.mark.slow
def test_stacked_tables_keep_their_roles_on_a_phone(open_page):
    page = open_page(full_report(), 390)
    page.get_by_text("Standard errors of the harness and of this report").click()
    table = page.get_by_role("table", name="Standard errors of the harness and of this report")
    assert table.get_by_role("rowheader", name=make.SYSTEMS[0]).count() == 6
    assert table.get_by_role("cell").count() == 12 * 4


@pytest.mark.slow
def test_a_link_of_the_contents_opens_the_folded_task(open_page):
    rankings = [replace(make.ranking(3), task=f"task_{k}") for k in range(5)]
    page = open_page(full_report(rankings=rankings))
    table = page.locator("#ranking-4 table").first
    assert not table.is_visible()
    page.locator("nav summary").first.click()
    page.get_by_role("link", name="task_3, acc").click()
    assert table.is_visible()
    assert not page.locator("#ranking-3 table").first.is_visible()


@pytest.mark.slow
def test_regions_are_told_apart_by_name(open_page):
    rankings = [replace(make.ranking(3), task=f"task_{k}") for k in range(3)]
    page = open_page(full_report(rankings=rankings))
    for name in ("task_0, acc", "task_2, acc"):
        assert page.get_by_role("region", name=name).count() == 2


@pytest.mark.slow
def test_print_shows_folded_tables_and_of_folded_tasks_the_headings(open_page):
    rows = [make.estimate(task=f"t{k}", messages=(made(f"Warning {k}."),)) for k in range(8)]
    page = open_page(report_html(rows, [make.comparison(task=f"t{k}") for k in range(8)]))
    tables, facts, verdicts = page.locator("#scores table"), page.locator(".task dl"), page.locator(".verdicts")
    name = page.locator(".task summary").last
    assert not tables.is_visible()
    page.emulate_media(media="print")
    assert tables.is_visible()
    assert name.is_visible()
    assert facts.first.is_visible()  # what holds of all tasks is open on the screen too
    assert not facts.last.is_visible()
    assert not verdicts.is_visible()
    assert page.get_by_text("Only the headings of closed tasks are printed").is_visible()
    name.evaluate("summary => summary.parentElement.open = true")
    assert facts.last.is_visible()


@pytest.mark.slow
def test_a_report_of_forty_tasks_and_three_systems_prints_on_ten_pages(open_page):
    # 19 before figures had two columns and folded tasks stayed folded
    page = open_page(long_report())
    printed = page.pdf(format="A4")
    assert len(re.findall(rb"/Type */Page\b", printed)) <= 10


@pytest.mark.slow
def test_no_row_of_a_printed_figure_is_far_from_its_axis(open_page):
    rows = [make.comparison(task=f"subject_{k}") for k in range(50)]
    page = open_page(report_html([], rows))
    lines = page.locator(".chunk").evaluate_all("chunks => chunks.map(c => c.querySelectorAll('.line').length)")
    assert sum(lines) == 50 + len(lines)
    assert max(lines) <= 17
    assert page.locator(".chunk .line:last-child.axis").count() == len(lines)


@pytest.mark.slow
@pytest.mark.parametrize("media", ["screen", "print"])
def test_rows_and_axes_of_a_figure_are_as_wide_as_each_other(open_page, media):
    rows = [make.comparison(task=f"t{k}", difference=d) for k, d in enumerate((0.1, -5.51234, 0.02))]
    page = open_page(report_html([], rows))
    page.emulate_media(media=media)
    widths = page.locator(".panel .track").evaluate_all("tracks => tracks.map(t => t.getBoundingClientRect().width)")
    assert len(widths) >= 4
    assert max(widths) - min(widths) < 0.5
    over = "lines => lines.filter(l => l.scrollWidth > l.clientWidth + 1).map(l => l.textContent)"
    assert page.locator(".panel .line").evaluate_all(over) == []
