"""Writes cases with the results of independent statistics packages: report_peer.py NUMBER

scripts/report-peer runs it once in each of its two environments. Each line has three parts, separated by tabs: the name of
the number, the input and the results, both separated by spaces.
"""
import importlib.util
import random
import sys

number = int(sys.argv[1])
draw = random.Random(44)


def write(name, values, results):
    # The shortest text that gives the same number again.
    print(name, " ".join(str(v) for v in values), " ".join(repr(float(r)) for r in results), sep="\t")


def share():
    total = draw.choice([1, 2, 7, 50, 400, 9_000, 100_000])
    return draw.choice([0, total, draw.randint(0, total), draw.randint(0, total)]), total


def amounts():
    size = draw.choice([2, 3, 10, 60])
    return [draw.choice([0, 0, 1_990, 4_990, 9_990, 59_990, -9_990]) + draw.randint(0, 9) for _ in range(size)]


def text(values):
    return ",".join(str(v) for v in values)


def with_statsmodels_scipy_and_lifelines():
    import numpy
    from lifelines import AalenJohansenFitter, KaplanMeierFitter
    from scipy import optimize, stats
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint, proportion_effectsize

    for _ in range(number):
        (c1, n1), (c2, n2) = share(), share()
        write("wilson", [c1, n1], proportion_confint(c1, n1, method="wilson"))
        write("newcombe", [c1, n1, c2, n2], confint_proportions_2indep(c1, n1, c2, n2, method="newcomb"))
        one, other = amounts(), amounts()
        interval = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
        write("welch", [text(one), text(other)], [numpy.mean(one) - numpy.mean(other), *interval])
        freedom = draw.choice([1, 1.5, 2.25, 3, 17.3, 250, 999, 1000, 1234.5, 1e6]) + draw.random()
        write("student", [freedom], [stats.t.ppf(0.975, freedom)])
        planned = draw.choice([0.5, 0.8, 0.9, 0.99])
        statistic, probability = stats.chisquare([c1, n1 - c1], [planned * n1, (1 - planned) * n1])
        write("split", [c1, n1, planned], [statistic, probability])
        effect, base = draw.choice([0.01, 0.03, 0.1]), draw.choice([0.02, 0.1, 0.5])
        # The tail on the other side, with a probability of a millionth, is left out. solve_power stops at 1e-8.
        distance, ratio = proportion_effectsize(base + effect, base), (1 - planned) / planned

        def missing(size):
            return NormalIndPower().power(distance, size, 0.025, ratio=ratio, alternative="larger") - 0.8

        near = NormalIndPower().solve_power(distance, alpha=0.025, power=0.8, ratio=ratio, alternative="larger")
        first = optimize.brentq(missing, 0.9 * near, 1.1 * near, xtol=1e-12, rtol=1e-14)
        write("size", [effect, base, 1 - planned], [first / planned])

    for _ in range(number):
        size = draw.choice([2, 5, 30, 200])
        # Whole days, so many ends are at the same time; lifelines moves those apart for Aalen-Johansen, so they differ there.
        days = [draw.randint(1, 60) for _ in range(size)]
        ended = [draw.random() < 0.6 for _ in range(size)]
        curve = KaplanMeierFitter().fit(days, ended)
        time = draw.randint(min(days), 60)
        at = curve.survival_function_.index.asof(time)
        value = curve.survival_function_.loc[at].iloc[0]
        low, high = curve.confidence_interval_.loc[at]
        if 0 < value < 1:
            observed = text(f"{d}:{int(e)}" for d, e in zip(days, ended))
            write("survival", [observed, time], [value, low, high])

        times = draw.sample(range(1, 10_000), size)
        causes = [draw.choice([0, 0, 1, 1, 2, 3]) for _ in range(size)]
        if 1 in causes:
            fitter = AalenJohansenFitter().fit(times, causes, event_of_interest=1)
            index = fitter.cumulative_density_.index
            place = draw.randrange(len(index))
            value = fitter.cumulative_density_.iloc[place, 0]
            high, low = fitter.confidence_interval_.iloc[place]
            # After the last end, lifelines divides by zero.
            if 0 < value < 1 and numpy.isfinite([low, high]).all():
                observed = text(f"{t}:{c}" for t, c in zip(times, causes))
                write("incidence", [observed, int(index[place])], [value, min(low, high), max(low, high)])


def with_gbstats():
    from gbstats.frequentist.tests import SequentialConfig, SequentialTwoSidedTTest
    from gbstats.models.statistics import ProportionStatistic, SampleMeanStatistic
    from gbstats.utils import check_srm

    def interval(one, other, planned):
        # The first is the baseline.
        config = SequentialConfig(difference_type="absolute", sequential_tuning_parameter=planned)
        return SequentialTwoSidedTTest(other, one, config).confidence_interval

    def mean(values):
        return SampleMeanStatistic(n=len(values), sum=sum(values), sum_squares=sum(v * v for v in values))

    for _ in range(number):
        planned = draw.choice([500, 5_000, 24_230, 81_912])
        (c1, n1), (c2, n2) = share(), share()
        if 0 < c1 < n1 or 0 < c2 < n2:
            shares = ProportionStatistic(n=n1, sum=c1), ProportionStatistic(n=n2, sum=c2)
            write("always_shares", [c1, n1, c2, n2, planned], interval(*shares, planned))
        one, other = amounts(), amounts()
        write("always_means", [text(one), text(other), planned], interval(mean(one), mean(other), planned))
        weight = draw.choice([0.5, 0.8, 0.9, 0.99])
        write("ratio", [c1, n1, weight], [check_srm([c1, n1 - c1], [weight, 1 - weight])])


if importlib.util.find_spec("gbstats"):
    with_gbstats()
else:
    with_statsmodels_scipy_and_lifelines()
