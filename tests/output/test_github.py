"""Gates as annotations and as the summary of a GitHub job, as text."""

from harness_uq import gate
from harness_uq.results.documents import render_results
from tests.analyses.gating.test_gate import NEW, OLD, log

ANNOTATIONS = """\
::error title=toy%3A acc not worse by more than 0.05::new: 0.5000, old: 0.7500, difference: -0.2500 \
[-0.2882, -0.2131]. Questions that are worse: 200, 201, 202, 203, 204 and 95 more
::error title=toy%3A acc at least 0.52::undecided: new: 0.5000 [0.4577, 0.5423]
::notice title=Evaluation gate::FAIL: new is worse than old by more than the margin on toy (-0.25, \
[-0.2882, -0.2131]). The data do not show whether the score on toy is at least 0.52. \
If the true scores equal the observed ones, 3,436 more questions would show it."""
SUMMARY = """\
**FAIL: new is worse than old by more than the margin on toy (-0.25, [-0.2882, -0.2131]). The data do not show \
whether the score on toy is at least 0.52. If the true scores equal the observed ones, 3,436 \
more questions would show it.**

### new: new, baseline: old

| Task | Metric | New | Baseline | Change | 90% interval | Margin | Questions | Pass rate if equal | Failing \
drop | Decision |
| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | :-- |
| toy | acc | 0.5000 | 0.7500 | -0.2500 | [-0.2882, -0.2131] | 0.05 | 400 | 75 % | 0.111 | fail |

Pass rate if equal: share of such runs that would pass if the new \
system were exactly as good as the baseline. \
Failing drop: true drop at which 80 % of such runs would fail. 90% interval: what the test does not reject. \
At most 5 % of equally good systems fail \
(corrected for 2 scores by Holm's method), and at most 5 % of systems worse than the margin pass.

### Required scores of new

| Task | Metric | Score | 90% interval | Required | Questions | N to decide | Decision |
| :-- | :-- | --: | --: | --: | --: | --: | :-- |
| toy | acc | 0.5000 | [0.4577, 0.5423] | ≥ 0.52 | 400 | +3,436 | undecided |

N to decide: additional questions that decide in 80 % of \
runs if the true score equals the observed one. 90% interval: what the test does not reject. At \
most 5 % of scores within their bounds fail (corrected for 2 scores by Holm's method), and at most 5 % of \
scores beyond them pass.

### What broke

| Task | Metric | Worse | Better | Questions that are worse |
| :-- | :-- | --: | --: | :-- |
| toy | acc | 100 | 0 | 200, 201, 202, 203, 204 and 95 more |

Several baseline runs, or further runs (`--history`), separate regressions from questions whose answers vary \
between identical runs.

**Warnings**

- The decision ignores the variation between runs, because it uses one run of the baseline. Pass several runs, \
such as `--baseline RUN1 RUN2 RUN3`. (UQ239)"""


def test_annotations_and_summary_of_a_failed_gate() -> None:
    found = gate(log(200, **NEW), log(300, **OLD), margin=0.05, at_least=0.52)
    assert render_results([found], "github") == ANNOTATIONS
    assert render_results([found], "markdown") == SUMMARY


def test_a_gate_that_passes_has_a_notice_only() -> None:
    (line,) = render_results([gate(log(300, **NEW), at_least=0.6)], "github").splitlines()
    assert line.startswith("::notice title=Evaluation gate::PASS: ")


def test_text_of_logs_cannot_contain_commands_of_the_runner() -> None:
    hostile = "t\n::stop-commands::x\r%0A::error::y, z"
    text = render_results([gate(log(300, task=hostile), at_least=0.9)], "github")
    assert [line.partition(" ")[0] for line in text.split("\n")] == ["::error", "::notice"]
    assert "\r" not in text
    assert "::stop-commands::x" not in text.split("title=")[1].partition("::")[0]
