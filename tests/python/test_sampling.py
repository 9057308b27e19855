"""What `make test` runs of a product: known by its seed, and nothing is left out for long."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sampling import is_in_sample
from sparklatency.binding.jars import pyspark_version, spark_line

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.one_line

pytest_plugins = ["pytester"]

TESTS = """
    import pytest

    pytestmark = pytest.mark.sampled(of="shape", by="mode")

    @pytest.fixture(params=[1, 2], ids=["fast", "slow"])
    def mode(request):
        return request.param

    @pytest.mark.parametrize("shape", ["a", "b", "c"])
    def test_product(shape, mode):
        pass

    @pytest.mark.parametrize("shape", ["a", "b"])
    def test_one_side(shape):
        pass

    @pytest.mark.sampled(of="way", by="mode", alone=True)
    @pytest.mark.parametrize("way", ["x", "y"])
    def test_alone(way, mode):
        pass

    @pytest.mark.sampled(by="mode")
    def test_turn(mode):
        pass

    @pytest.mark.one_line
    def test_any_line():
        pass

    @pytest.fixture(params=["8.8", "9.9"])
    def cluster(request):
        return request.param

    @pytest.mark.one_line
    def test_any_cluster(cluster):
        pass
"""
ALONE = ["alone[fast-x]", "alone[slow-x]", "alone[slow-y]", "alone[fast-y]"]
"""In the order of their turns."""
TURNS = ["turn[fast]", "turn[slow]"]
CLUSTERS = ["any_cluster[8.8]", "any_cluster[9.9]"]
ONE_SIDE = [*CLUSTERS, "any_line", "one_side[a]", "one_side[b]"]
OWN_LINE = spark_line(pyspark_version())
Tests = tuple[list[str], str]


@pytest.fixture
def ran(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tests]:
    """Runs TESTS in a process of their own, and tells which of them ran, and all that was printed."""
    pytester.makepyfile(TESTS)

    def run(**environment: str) -> Tests:
        for name in ("SAMPLE_SEED", "TEST_FULL", "SPARK_LINES"):
            monkeypatch.setenv(name, environment.get(name, ""))
        printed = pytester.runpytest_subprocess("-p", "sampling", "-v", "--strict-markers").stdout.str()
        return sorted(re.findall(r"::test_(\S+) PASSED", printed)), printed

    return run


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")


@pytest.mark.parametrize("modes", [1, 2, 7])
def test_a_sample_has_each_shape_once_and_each_mode_and_samples_in_a_row_have_all(modes: int) -> None:
    whole = {(shape, mode) for shape in range(7) for mode in range(modes)}
    for seed in range(10):
        samples = [{case for case in whole if is_in_sample(*case, modes, seed + i)} for i in range(modes)]
        assert sorted(shape for shape, _ in samples[0]) == list(range(7))
        assert {mode for _, mode in samples[0]} == set(range(modes))
        assert set.union(*samples) == whole


def test_a_sample_of_a_product_is_run_and_its_seed_is_printed(ran: Callable[..., Tests]) -> None:
    tests, printed = ran(SAMPLE_SEED="0")
    assert tests == [
        "alone[fast-x]",
        *ONE_SIDE,
        "product[fast-a]",
        "product[fast-c]",
        "product[slow-b]",
        TURNS[0],
    ]
    assert "a sample of tests, SAMPLE_SEED=0\n" in printed
    tests, printed = ran(SAMPLE_SEED="1")
    assert tests == [
        "alone[slow-x]",
        *ONE_SIDE,
        "product[fast-b]",
        "product[slow-a]",
        "product[slow-c]",
        TURNS[1],
    ]
    assert "7 deselected" in printed
    assert re.search(r"a sample of tests, SAMPLE_SEED=\d{5,}\n", ran()[1])


def test_one_pair_of_a_product_is_run_at_a_time_where_one_is_enough(ran: Callable[..., Tests]) -> None:
    for seed, pair in enumerate([*ALONE, ALONE[0]]):
        tests, _ = ran(SAMPLE_SEED=str(seed))
        assert [test for test in tests if test in ALONE] == [pair]


def test_all_is_run_where_that_is_asked_for(ran: Callable[..., Tests]) -> None:
    tests, printed = ran(TEST_FULL="1")
    product = [f"product[{mode}-{shape}]" for mode in ("fast", "slow") for shape in "abc"]
    assert tests == sorted([*ALONE, *ONE_SIDE, *product, *TURNS])
    assert "deselected" not in printed


def test_what_hardly_depends_on_the_line_runs_on_the_line_whose_turn_it_is(ran: Callable[..., Tests]) -> None:
    lines = f"{OWN_LINE} 9.9"
    turns = ["any_line" in ran(SPARK_LINES=lines, SAMPLE_SEED=seed)[0] for seed in ("0", "1", "2")]
    assert turns == [True, False, True]
    assert "any_line" in ran(SPARK_LINES=OWN_LINE, SAMPLE_SEED="1")[0]
    assert "any_line" in ran(SPARK_LINES=lines, SAMPLE_SEED="1", TEST_FULL="1")[0]


def test_a_cluster_of_the_line_whose_turn_it_is_is_enough(ran: Callable[..., Tests]) -> None:
    for seed, cluster in enumerate(CLUSTERS):
        tests, _ = ran(SPARK_LINES="8.8 9.9", SAMPLE_SEED=str(seed))
        assert [test for test in tests if test in CLUSTERS] == [cluster]
