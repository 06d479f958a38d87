"""Messages about tokens, cost and time: UQ800 to UQ899."""

from harness_uq.messages.message import MessageType, message_types_in

COST_LOGGED = MessageType.note(
    "UQ801",
    "The cost comes from the log.",
    "If the log contains the cost, harness_uq uses this cost and does not compute the cost from tokens and prices.",
    "If the cost is wrong, check the prices that the harness used.",
)
COST_FROM_PRICES = MessageType.note(
    "UQ802",
    "The cost of {models:join} is computed from the logged tokens and the prices in {origin}.",
    "List prices do not account for discounts, taxes, tool fees or reduced prices for batch requests.",
    "If you pay other prices, write them to a price file, and pass the file with `--token-prices FILE`.",
)
PRICE_UNKNOWN = MessageType.warning(
    "UQ803",
    "The cost of {models:join} is unknown, because no price was found in {origin}. Add the price with --token-prices "
    "FILE.",
    "If a trial used a model with unknown prices, the results contain no cost for the trial. An unknown cost does not "
    "count as 0.",
    "Add the prices of the model to a price file. The page docs/howto/cost.md describes the format of price files.",
)
GRADER_NOT_SEPARATE = MessageType.note(
    "UQ804",
    "The log does not state which of the models {models:join} graded the answers. The tokens and cost of all these "
    "models count as those of the evaluated system.",
    "For logs of Inspect AI, harness_uq can count the tokens of the grader separately if the grader has the model "
    "role `grader`, or if the scorer names the model of the grader.",
    "In the scorer, request the model of the grader with `get_model(role='grader')`.",
)
NO_RESOURCES = MessageType.warning(
    "UQ805",
    "The log of {harness} does not contain the tokens, cost or time of individual trials.",
    "lm-eval records the total time of a run, but no tokens and no cost. Logs of Inspect AI contain the tokens and "
    "time of each sample.",
    "Pass a table with columns such as `cost` and `output_tokens`. The page docs/howto/tables.md describes these "
    "columns.",
)
NOTHING_SOLVED = MessageType.warning(
    "UQ806",
    "No question was solved, so the quantity {quantity} has no upper limit.",
    "The data are consistent with a success rate close to 0. If the success rate is close to 0, the cost per solved "
    "question is arbitrarily large.",
    "Add questions, or report the cost per question.",
)
HEAVY_TAIL = MessageType.warning(
    "UQ807",
    "{resource} varies strongly between {n_units:count {unit}}, so the interval can be too narrow. In simulations "
    "with 30 questions and similarly variable data, 95 % intervals had a coverage of 88 to 91 %.",
    "If the mean depends mainly on a few questions with very large values, a small sample may contain none of these "
    "questions.",
    "Use at least 100 questions, or 100 clusters if the questions are clustered.",
)
UNSCORED_COST = MessageType.note(
    "UQ808",
    "{n_trials:count trial} without a score also used resources ({resource}: {amount:,.6g}). The quantity {quantity} "
    "does not include these resources.",
    "Ratios such as the cost per solved question use only trials with a score, but totals include all trials.",
    "In addition to the cost per solved question, report the total cost.",
)
PRICES_INVALID = MessageType.error(
    "UQ809",
    "The prices cannot be read: {path}: {reason:sentence}",
    "A price file contains one table per model. In the table of a model, the keys `input` and `output` contain the "
    "prices in US dollars per million tokens.",
    "Correct the price file. The page docs/howto/cost.md describes the format of price files.",
)
TYPES = message_types_in(globals())
