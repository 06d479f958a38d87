"""The built-in estimators, offered through the same hook as anyone's."""

from collections.abc import Iterable

from harness_uq.hookspecs import Estimator, hookimpl


@hookimpl
def harness_uq_estimators() -> Iterable[Estimator]:
    """Every built-in method."""
    from harness_uq.estimators.averages import BayesianBootstrap, DirichletProcess, NormalMean, StudentMean
    from harness_uq.estimators.binary import Beta, FullBenchmark, ProportionInterval
    from harness_uq.estimators.clustered import Clustered, ClusteredMean, ClusteredRatio, ClusteredWilson
    from harness_uq.estimators.confusion import Confusion
    from harness_uq.estimators.groups import GroupMean, NewTasks
    from harness_uq.estimators.totals import KnownTotals
    from harness_uq.estimators.trials import AverageAtN, BayesAtN, Benchmark, Nested, PassAtK, UnbiasedPassAtK

    return [
        Beta(),
        Beta("jeffreys", (0.5, 0.5), "quantile"),
        ProportionInterval("wilson", "wilson"),
        ProportionInterval("clopper-pearson", "clopper_pearson"),
        ProportionInterval("agresti-coull", "agresti_coull"),
        FullBenchmark(),
        DirichletProcess(),
        StudentMean(),
        NormalMean(),
        BayesianBootstrap(),
        Clustered("clustered", "icc"),
        Clustered("clustered-gamma", "gamma"),
        Clustered("clustered-is", "gamma", engine="is"),
        ClusteredRatio(),
        ClusteredWilson(),
        ClusteredMean("clustered-t"),
        ClusteredMean("clustered-cr2"),
        ClusteredMean("clustered-clt"),
        Nested(),
        Benchmark(),
        BayesAtN(),
        AverageAtN(),
        PassAtK(),
        UnbiasedPassAtK(),
        Confusion(),
        GroupMean(),
        NewTasks(),
        KnownTotals(),
    ]
