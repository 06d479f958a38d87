"""Messages about tokens, cost and time: UQ800 to UQ899."""

from harness_uq.messages.message import MessageType, message_types_in

COST_LOGGED = MessageType(
    "UQ801",
    "cost-logged",
    "note",
    "The log records the cost.",
    "A recorded cost is preferred to the product of tokens and prices.",
    "Check the rates that the harness was given.",
)
COST_FROM_PRICES = MessageType(
    "UQ802",
    "cost-from-prices",
    "note",
    "The cost of {models:join} is computed from tokens and prices of {origin}.",
    "List prices do not include discounts, taxes, fees for tools or batch prices.",
    "Give the prices that you pay with `--prices FILE`.",
)
PRICE_UNKNOWN = MessageType(
    "UQ803",
    "price-unknown",
    "warning",
    "The cost of {models:join} is unknown because {origin} does not list a price. Add one with --prices FILE.",
    "An unknown cost is not 0. Trials that used such a model have no cost.",
    "Add the model to a file of prices, see docs/howto/cost.md.",
)
GRADER_NOT_SEPARATE = MessageType(
    "UQ804",
    "grader-not-separate",
    "note",
    "The log does not tell which of the models ({models:join}) graded the answers. Their usage counts as that of the "
    "system.",
    "Inspect AI separates graders if they are called by the role `grader`, or if the scorer names its model.",
    "Call the grader with `get_model(role='grader')`.",
)
NO_RESOURCES = MessageType(
    "UQ805",
    "no-resources",
    "warning",
    "The log of {harness} does not contain tokens, cost or time of the trials.",
    "lm-eval records only the total time of a run. Logs of Inspect AI contain the usage of each sample.",
    "Use a table with columns such as `cost` and `output_tokens`, see docs/howto/tables.md.",
)
NOTHING_SOLVED = MessageType(
    "UQ806",
    "nothing-solved",
    "warning",
    "No question was solved, so {quantity} has no upper limit.",
    "The data do not exclude a success rate near 0, with which the cost of a solved question is arbitrarily large.",
    "Add questions, or report the cost per question.",
)
HEAVY_TAIL = MessageType(
    "UQ807",
    "heavy-tail",
    "warning",
    "{resource} varies strongly between {n_units:count {unit}}. The interval can be too narrow: in simulations of such "
    "data with 30 questions, the coverage of 95 % intervals was 88 to 91 %.",
    "A few expensive questions determine the mean, and a small sample can miss them.",
    "Use at least 100 questions.",
)
UNSCORED_COST = MessageType(
    "UQ808",
    "unscored-cost",
    "note",
    "{n_trials:count trial} without a score also used resources ({resource}: {amount:,.6g}), which {quantity} does not "
    "include.",
    "Ratios use only trials with a score. Totals include all trials.",
    "Report the total, too.",
)
PRICES_INVALID = MessageType(
    "UQ809",
    "prices-invalid",
    "error",
    "The prices cannot be read: {path}: {reason:sentence}",
    "A file of prices has one table per model with `input` and `output` in US dollars per million tokens.",
    "Correct the file, see docs/howto/cost.md.",
)
TYPES = message_types_in(globals())
