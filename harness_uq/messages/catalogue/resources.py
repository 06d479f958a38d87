"""Messages about tokens, cost and time: UQ800 to UQ899."""

from harness_uq.messages.message import MessageType, message_types_in

COST_LOGGED = MessageType(
    "UQ801",
    "cost-logged",
    "note",
    "The cost comes from the log.",
    "If the log contains the cost, harness_uq uses this cost and does not compute it from tokens and prices.",
    "Check the prices that the harness used.",
)
COST_FROM_PRICES = MessageType(
    "UQ802",
    "cost-from-prices",
    "note",
    "The cost of {models:join} is computed from tokens and prices of {origin}.",
    "List prices do not include discounts, taxes, fees for tools or batch prices.",
    "If you pay other prices, give them with `--prices FILE`.",
)
PRICE_UNKNOWN = MessageType(
    "UQ803",
    "price-unknown",
    "warning",
    "The cost of {models:join} is unknown, because {origin} contains no price for the model. Add the price with "
    "--prices FILE.",
    "An unknown cost does not count as 0. If a trial used a model without a price, the results contain no cost for "
    "the trial.",
    "Add the prices of the model to a price file. The page docs/howto/cost.md describes the format of price files.",
)
GRADER_NOT_SEPARATE = MessageType(
    "UQ804",
    "grader-not-separate",
    "note",
    "The log does not state which of the models ({models:join}) graded the answers. Their tokens and cost count as "
    "those of the system.",
    "In logs of Inspect AI, the usage of the grader can be separated if the grader has the role `grader`, or if the "
    "scorer names its model.",
    "Call the grader in the scorer with `get_model(role='grader')`.",
)
NO_RESOURCES = MessageType(
    "UQ805",
    "no-resources",
    "warning",
    "The log of {harness} does not contain tokens, cost or time of the trials.",
    "lm-eval records only the total time of a run, and no tokens or cost. Logs of Inspect AI contain the usage of "
    "each sample.",
    "Use a table with columns such as `cost` and `output_tokens`, as docs/howto/tables.md describes.",
)
NOTHING_SOLVED = MessageType(
    "UQ806",
    "nothing-solved",
    "warning",
    "No question was solved, so the quantity {quantity} has no upper limit.",
    "The data do not exclude a success rate near 0. With a success rate near 0, the cost of a solved question is "
    "arbitrarily large.",
    "Add questions, or report the cost per question.",
)
HEAVY_TAIL = MessageType(
    "UQ807",
    "heavy-tail",
    "warning",
    "{resource} varies strongly between {n_units:count {unit}}. The interval can be too narrow: in simulations of such "
    "data with 30 questions, the coverage of 95 % intervals was 88 to 91 %.",
    "A few expensive questions determine the mean, and a small sample may contain none of them.",
    "Use at least 100 questions.",
)
UNSCORED_COST = MessageType(
    "UQ808",
    "unscored-cost",
    "note",
    "{n_trials:count trial} without a score also used resources ({resource}: {amount:,.6g}). The quantity {quantity} "
    "does not include these resources.",
    "Ratios such as the cost per solved question use only trials with a score. Totals include all trials.",
    "In addition to the cost per solved question, report the total cost.",
)
PRICES_INVALID = MessageType(
    "UQ809",
    "prices-invalid",
    "error",
    "The prices cannot be read: {path}: {reason:sentence}",
    "A price file contains one table per model. The keys `input` and `output` of the table contain the prices in US "
    "dollars per million tokens.",
    "Correct the price file. The page docs/howto/cost.md describes the format of price files.",
)
TYPES = message_types_in(globals())
