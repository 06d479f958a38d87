"""`harness-uq explain`: print what a message means, with an example, or a term of the output."""

import argparse
import shutil
from textwrap import fill

from harness_uq.commands.console import message_type
from harness_uq.commands.page import Page, logs_argument
from harness_uq.messages.errors import UsageError

USAGE = "CODE|TERM [CODE|TERM ...]"
EXAMPLES = (
    ("Explain a message by its code", "harness-uq explain UQ157"),
    ("Explain a message by its name", "harness-uq explain few-clusters"),
    ("Explain words of the output", "harness-uq explain verdict Deff ICC MDE"),
)
TERMS = {
    "verdict": "A is better (or worse) than B if the printed interval of the difference excludes 0, and both are "
    "equivalent if the interval lies within the margin. Otherwise the data are insufficient, and the verdict is "
    "undecided.",
    "Deff": "Design effect: how many times larger the variance of the score is because questions are clustered or "
    "tried several times. The score is as precise as that of N / Deff independent questions.",
    "ICC": "Intraclass correlation: how similar the scores within a cluster (or the trials of a question) are, from 0 "
    "(independent) to 1 (identical).",
    "MDE": "Minimum detectable effect: the smallest true difference that this comparison would detect with a "
    "probability of 80 %.",
    "SE": "Standard error: the standard deviation of the estimate, which is that of the posterior in Bayesian methods. "
    "It decreases as questions are added.",
    "Harness SE": "The standard error that the harness reported. It usually treats questions as independent.",
    "N": "The number of questions. 80×3 are 80 questions with 3 trials each, and 80/20 are 80 questions in 20 "
    "clusters.",
    "interval": "A 95 % interval contains the true value with a probability of 95 % (credible interval), or in 95 % of "
    "repeated evaluations (confidence interval). The option --level changes the level.",
    "90% interval": "The interval of a gate at margin m has twice the error rate of its one-sided test: at a level of "
    "0.95, the two-sided 90 % interval lies above -m exactly if the test rejects a decrease by m.",
    "(pass)": "A score with a decision in parentheses can fail the gate, but does not have to pass.",
    "pooled interval": "The interval of a group after partial pooling: it is shrunk towards the other groups, because "
    "the highest and the lowest of many groups are extreme partly by chance.",
    "P(A > B)": "The probability that the expected score of A is higher than that of B, given the data.",
    "N needed": "The number of additional questions with which 80 % of such comparisons would find a difference as "
    "large as the observed one, or as the margin.",
    "Adjusted p": "The p-value after correction for several tests. A verdict holds after correction if it is at most "
    "0.05, or 1 minus the level.",
    "correction": "With many tests, some are significant by chance. Holm's method makes the probability of any false "
    "result at most 5 %. Rows show their own interval and verdict; the headline says which hold after correction.",
    "margin": "The largest difference that does not matter to you. A comparison is equivalent if its interval lies "
    "within the margin, and a gate passes if the interval lies above minus the margin.",
    "points": "Percentage points of a score from 0 to 1: 0.80 is 5 points more than 0.75.",
    "estimand": "The quantity that an interval describes: a statistic, such as the mean or pass@4, and a scope.",
    "scope": "The questions that the estimand describes: new questions of the same kind (population), exactly these "
    "questions (benchmark), or the whole benchmark of which a part was run (full).",
    "hdi": "Highest-density interval: the narrowest credible interval of the given level.",
    "quantile": "A credible interval with equal posterior probabilities below and above it.",
    "settings": "Commands read options from the file harness-uq.toml, or the table [tool.harness_uq] of "
    "pyproject.toml, in the working folder or the nearest parent folder that has one. "
    "The line level = 0.9 is the same as --level 0.9.",
    "exit-codes": "0: success; of a gate: pass. 1: a log could not be read or a result could not be computed; of a "
    "gate: fail. 2: invalid arguments or settings. 3: compare --fail-if-worse found a worse system, history "
    "--fail-if-changed a change; of a gate: undecided. 4: a gate without a decision, because a log cannot be read or "
    "there is nothing to compare. 130: interrupted. 141: the program that reads the output ended early.",
}


_SYNONYMS = {
    "90/95% interval": "90% interval",
    "design effect": "Deff",
    "exit codes": "exit-codes",
    "pass": "(pass)",
    "(fail)": "(pass)",
    "(undecided)": "(pass)",
    "pooled": "pooled interval",
    "holm": "correction",
}
_ARGUMENTS = (logs_argument("codes", "CODE", help="Code or name of a message, or a word of the output"),)


def term_of(label: str) -> str | None:
    """The term that a label names; None if there is none. Any level of an interval names the interval."""
    known = {term.lower(): term for term in TERMS} | _SYNONYMS
    text = " ".join(label.lower().split())
    if text.endswith("% interval") and text not in known:
        text = "interval"
    return known.get(text)


def run(args: argparse.Namespace) -> int:
    """Print each message with its example, its meaning and what to do, and the meaning of each term."""
    from harness_uq.messages.control_characters import escape_lines
    from harness_uq.messages.examples import example
    from harness_uq.output.message_links import message_url

    width = min(shutil.get_terminal_size().columns, 100)
    unknown: list[UsageError] = []
    for number, label in enumerate(args.codes):
        if term := term_of(label):
            print("\n" * (number > 0) + fill(f"{term}: {TERMS[term]}", width))
            continue
        try:
            kind = message_type(label)
        except UsageError as error:
            unknown.append(error)
            continue
        message = example(kind)
        parts = [
            f"{kind.code} {kind.name} ({kind.severity})",
            "" if message is None else fill(f"Example: {message.text}", width, subsequent_indent="  "),
            fill(kind.meaning, width),
            fill(f"What to do: {kind.action}", width),
            message_url(kind) or "",
        ]
        print(escape_lines("\n" * (number > 0) + "\n".join(filter(None, parts))))
    if unknown:
        raise unknown[0]
    return 0


PAGES = {"explain": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS)}
