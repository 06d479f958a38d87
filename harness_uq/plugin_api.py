"""Everything that plugins import from harness_uq: hooks, protocols, task logs, results, file access and analyses.

Import from this module and from no other of the package: the rest may change without notice. The names are loaded when
they are first used, so that a plugin that only registers its hooks loads neither numpy nor scipy.

A plugin is a module that an entry point names. This one provides an interval method::

    import numpy as np
    from harness_uq.plugin_api import Interval, MethodInfo, MethodResult
    from harness_uq.plugin_api import hookimpl, scores_of

    class MyBootstrap:
        name = "my-bootstrap"  # of --uq, or --method
        info = MethodInfo(title="Bootstrap percentiles over questions")
        def why_unsupported(self, problem):
            return None  # or the reason, as a text
        def estimate(self, problem):
            means = np.nanmean(scores_of(problem).values, axis=1)
            draws = problem.rng.choice(means, (1000, len(means))).mean(axis=1)
            half = problem.level / 2
            low, high = np.quantile(draws, [0.5 - half, 0.5 + half])
            interval = Interval(low, high, problem.level, "confidence")
            result = MethodResult(means.mean(), interval, draws.std())
            return result.estimate(problem, self.name)

    @hookimpl
    def harness_uq_estimators():  # estimators are the methods of the command line
        return [MyBootstrap()]

    # pyproject.toml
    [project.entry-points.harness_uq]
    my-plugin = "my_package.my_module"

`help()` of these names describes what plugins provide and receive:

- `harness_uq_estimators` returns interval methods: `Estimator`, `MethodInfo`, `Problem`, `MethodResult`
- `harness_uq_harnesses` returns readers of logs: `Reader`, `Run`, `Discovery`, `TaskLog`
- `harness_uq_formats` returns output formats: `Format`, `ResultSet`, `RenderOptions`
- `harness_uq_cluster_keys(task, metadata)` returns names of fields that identify the clusters of a task, best first
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("harness_uq", __file__)
