"""The same figures by the UI of a running application."""

from __future__ import annotations

import json
import pickle
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from pyspark.sql import functions as F  # noqa: N812

from fabricated import node, query
from sparklatency import NoFiguresError, latency, with_e2e_latency
from support import aged, eventually, once_known, python

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.view import Latency
    from ui import UI


@pytest.fixture
def odd(spark: SparkSession, clock: object, running: None, tmp_path: Path) -> StreamingQuery:  # noqa: ARG001
    """A query whose name has what a URL takes for something else."""
    aged(spark, 10, 20, 30).coalesce(1).write.parquet(str(tmp_path / "in"))
    events = spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in"))
    started = (
        with_e2e_latency(events, "sink", "ts").writeStream.queryName("50% of a&b?c #d").format("noop").start()
    )
    started.processAllAvailable()
    eventually(lambda: latency(started).history().batches or None)
    return started


def test_the_ui_and_the_session_show_the_same(odd: StreamingQuery, url: str) -> None:
    def all_ways() -> list[Latency] | None:
        found = [latency(odd), *(latency(key, url=url) for key in (odd, odd.name, str(odd.id)))]
        # Without data it looks for offsets at one moment, and waits at the next.
        return found if all(one == found[0] for one in found) else None

    here, by_query, *_ = eventually(all_ways)
    assert here.queries[0].status == "RUNNING"
    assert here.query.run in {one.run for one in latency(url=url).queries}
    assert by_query.history() == here.history()
    elsewhere = pickle.loads(pickle.dumps(by_query))  # noqa: S301  our own
    assert elsewhere.history() == here.history()
    assert [batch.nodes["sink"].max for batch in by_query.history()] == [30]


def test_a_query_without_figures_is_told_from_one_that_has_no_batch_yet(
    spark: SparkSession, odd: StreamingQuery, url: str
) -> None:
    for name, why in (("even", ": there is no query of this name .*"), ("a/b", "")):
        said = f"no figures of a query '{name}'{why}; there are figures of '"
        with pytest.raises(NoFiguresError, match=said):
            latency(name, url=url)
    unmarked = spark.readStream.format("rate").load().writeStream.format("noop").start()
    assert once_known(lambda: latency(unmarked, url=url).query.nodes) == ()
    assert odd.isActive


@pytest.mark.parametrize("limit", ["0", "-1", "ten", "1.5"])
def test_a_limit_that_is_none_is_refused_with_the_reason(odd: StreamingQuery, url: str, limit: str) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{url}/api/v1/latency/queries/{odd.id}/batches?limit={limit}", timeout=30)  # noqa: S310  our own UI
    assert refused.value.code == HTTPStatus.BAD_REQUEST
    said = refused.value.read().decode()
    assert said == f"limit={limit} is not valid: a whole number from 1 is allowed"


def test_a_limit_beyond_any_history_gives_all_of_it(odd: StreamingQuery, url: str) -> None:
    path = f"{url}/api/v1/latency/queries/{odd.id}/batches?limit=99999999999"
    with urlopen(path, timeout=30) as answer:  # noqa: S310  our own UI
        assert json.load(answer)["batches"]


def test_an_application_whose_session_reads_nothing_shows_what_a_batch_query_measured(
    spark: SparkSession, url: str
) -> None:
    df = spark.range(3).select(F.current_timestamp().alias("ts"))
    with_e2e_latency(df, "by REST", "ts").collect()

    def counted() -> int | None:
        node = latency("__batch__", url=url).nodes.get("by REST")
        return node.records if node and node.records else None

    assert eventually(counted) == 3


def test_an_application_is_chosen_by_the_ui_that_shows_it() -> None:
    with pytest.raises(
        ValueError, match=r"app chooses among the applications of a UI\. Give the url of the UI too\."
    ):
        latency("orders", app="app-1")
    with pytest.raises(
        ValueError, match=r"'driver:4040' is not the URL of a Spark UI\. Write it like http://driver:4040\."
    ):
        latency("orders", url="driver:4040")


def test_something_that_is_no_query_is_refused(url: str) -> None:
    with pytest.raises(TypeError, match=r"^latency: query takes str or None, not 5 \(int\)\.$"):
        latency(5, url=url)  # type: ignore[arg-type]


def test_reading_from_a_url_takes_no_pyspark(ui: UI) -> None:
    ui.queries = [query("orders", node("sink"))]
    script = f"""
    import sys
    sys.modules["pyspark"] = None
    from sparklatency import latency
    print(latency("orders", url={ui.url!r}).nodes["sink"].max)
    """
    assert python(script) == "3019\n"
