"""Statistically sound uncertainty for LLM evaluation harnesses.

- `estimate(logs)`: scores with intervals; `estimate_scores(array)` for an array
- `compare(a, b)`: differences between systems; `compare_scores(a, b)` for arrays
- `rank(logs)`: ranks of several systems
- `gate(new, baseline)`: whether a new system passes
- `plan(...)`: how many questions and trials to run
- `history(runs)`, `effects(logs)`, `report(logs)`: changes over time, variance components, one page with all results
- `read_logs(logs)`: the task logs themselves; `detect_structure(logs)`: their clusters, trials and score types
- `stats`: the statistical functions, for arrays
- `plots`: figures
- `plugin_api`: what plugins import; its documentation contains a complete plugin

Settings of live runs are listed by `harness-uq lm-eval --help` and `harness-uq inspect --help`.

`logs` are paths, results in memory, lists of these, or a mapping from names of systems to them. An interval of your own
function of the scores uses the clusters that are detected:

    (found,) = detect_structure(logs, task="my_task")
    values = found.log.data[0].values.mean(axis=1)
    posterior = stats.resampled(len(values), lambda rows: my_function(values[rows]), clusters=found.clusters.codes)
    posterior.interval(0.95)

`found.log.data` has one entry for each metric and filter. Tasks with class labels have `targets` and `predictions`
in place of `values`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
