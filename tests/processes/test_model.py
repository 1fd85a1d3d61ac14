"""What a step of many processes should take: the formula beside the simulation of every process."""

import numpy as np
import pytest

from tests.benchmarks.model_ranks import LINKS, Link, Step, in_buckets, predicted, simulated, sum_time

LINK = LINKS["Ethernet of 25 Gbit/s"]
STEP = Step(60.0, [(90.0, 4 << 20), (120.0, 9 << 20), (150.0, 1 << 20), (160.0, 30 << 20)], 170.0, 180.0)


def test_one_process_waits_for_nobody():
    assert predicted(STEP, 1, LINK) == STEP.whole
    assert simulated(STEP, 1, LINK, np.random.default_rng(0)) == pytest.approx(STEP.whole)


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("count", [2, 8, 64, 1000])
def test_without_stragglers_the_formula_is_what_is_simulated(count, overlap):
    formula = predicted(STEP, count, LINK, overlap=overlap)
    assert simulated(STEP, count, LINK, np.random.default_rng(0), overlap=overlap) == pytest.approx(formula)


def test_a_thousand_processes():
    """They are no power of two, and one of them is the latest: within five percent of the simulation."""
    rng = np.random.default_rng(0)
    tries = [simulated(STEP, 1000, LINK, rng, jitter=0.02) for _ in range(20)]
    assert predicted(STEP, 1000, LINK, jitter=0.02) == pytest.approx(np.mean(tries), rel=0.05)


def test_what_is_summed_is_cut_into_buckets():
    buckets = in_buckets(STEP.parts, 10 << 20)
    assert buckets == [(120.0, 13 << 20), (160.0, 31 << 20)]
    slow = Link(5.0, 1e9)  # a message costs more than what is in it
    assert predicted(STEP._replace(parts=buckets), 64, slow) < predicted(STEP, 64, slow)
    assert sum_time(1e6, 4, Link(0.0, 1e3)) == pytest.approx(1500.0)
