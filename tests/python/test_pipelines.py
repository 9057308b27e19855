"""Declarative pipelines: each flow is a query, and the function that defines it may mark it."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from support import python

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
name: shop
storage: {folder}/storage
libraries:
  - glob:
      include: {glob}
configuration:
  spark.sql.shuffle.partitions: "1"
  spark.sparklatency.auto: source,terminal,stateful
  spark.sparklatency.recording.level: TRACE
"""

TABLES = """\
from pyspark import pipelines as dp
from sparklatency import with_e2e_latency, with_ingestion_timestamp

@dp.table
def orders():
    read = spark.readStream.schema("at TIMESTAMP, shop STRING").json("{folder}/orders")
    return with_e2e_latency(read, "read", "at").withWatermark("at", "1 second")

@dp.table
def stamped():
    read = with_ingestion_timestamp(spark.readStream.table("orders"))
    return with_e2e_latency(read, "stamped", "ingestion_time")

@dp.materialized_view
def shops():
    ordered = spark.read.table("orders")
    return with_e2e_latency(ordered, "ordered", ordered["at"]).groupBy("shop").count()
"""

WINDOWS = """\
CREATE STREAMING TABLE windows AS
SELECT window, count(*) AS orders, max(at) AS last FROM STREAM(orders) WATERMARK at DELAY OF INTERVAL 1 SECOND
GROUP BY window(at, '1 second');
"""

MISTAKE = """\
from pyspark import pipelines as dp
from sparklatency import with_e2e_latency

@dp.table
def wrong():
    return with_e2e_latency(spark.readStream.format("rate").load(), "wrong", "when")
"""

RUN = """
    import json
    from contextlib import redirect_stdout
    from io import StringIO
    from pathlib import Path
    from unittest.mock import patch
    from pyspark.errors import PySparkException
    from pyspark.pipelines.cli import run
    from pyspark.sql import SparkSession
    from sparklatency import configure
    from waits import EVENTS_WITHIN, await_until

    builder = SparkSession.builder.remote("local[1]").config("spark.ui.port", "0")
    builder.config("spark.ui.enabled", "true")  # under SPARK_TESTING it is not
    builder.config("spark.sql.warehouse.dir", "{folder}/warehouse")
    spark = {session}.getOrCreate()

    def told(spec, dry):
        # At its end a run stops its session, and with that the server.
        with patch.object(type(spark), "stop"), redirect_stdout(StringIO()) as events:
            try:
                run(Path("{folder}", spec), [], False, [], dry)
            except PySparkException:
                return events.getvalue()
        return "no error"
"""

FIGURES = """
    print("=====", json.dumps(told("mistake.yml", dry=True)))
    print("=====", json.dumps(told("shop.yml", dry=False)))
    nodes = "SELECT query, node, records, status FROM e2e_latency() WHERE records > 0 ORDER BY query, node"
    rows = await_until(lambda: len(found := spark.sql(nodes).collect()) >= 6 and found, EVENTS_WITHIN)
    print("=====", json.dumps([list(row) for row in rows]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "orders").mkdir()
    lines = (json.dumps({"at": f"2023-11-14T22:13:{20 + i:02}Z", "shop": f"shop {i % 3}"}) for i in range(10))
    (tmp_path / "orders" / "some.json").write_text("\n".join(lines))
    files = {"shop/tables.py": TABLES, "shop/windows.sql": WINDOWS, "mistake/tables.py": MISTAKE}
    for pipeline in ("shop", "mistake"):
        spec = SPEC.format(folder=f"file://{tmp_path}", glob=f"{pipeline}/**")
        (tmp_path / f"{pipeline}.yml").write_text(spec)
        (tmp_path / pipeline).mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text.replace("{folder}", str(tmp_path)))
    return tmp_path


def said(folder: Path, session: str, script: str) -> list[Any]:
    """What a client says that runs the pipelines in a folder."""
    text = dedent(RUN).format(folder=folder, session=session) + dedent(script)
    return [json.loads(part.split("\n")[0]) for part in python(text, SPARK_TESTING="1").split("=====")[1:]]


def test_each_flow_is_a_query_and_its_function_marks_it(folder: Path) -> None:
    mistake, run, figures = said(folder, "configure(builder)", FIGURES)
    assert "Error: node 'wrong': there is no column 'when' among 'timestamp', 'value'" in mistake
    assert run == "no error"
    assert figures == [
        ["__batch__", "ordered", 10, None],
        ["spark_catalog.default.orders", "read", 10, "FINISHED"],
        ["spark_catalog.default.stamped", "stamped", 10, "FINISHED"],
        ["spark_catalog.default.windows", "aggregate-1", 8, "FINISHED"],
        ["spark_catalog.default.windows", "sink", 8, "FINISHED"],
        ["spark_catalog.default.windows", "source-0-file[orders]", 10, "FINISHED"],
    ]


def test_a_server_without_sparklatency_does_not_drop_a_mark_in_silence(folder: Path) -> None:
    [missing] = said(folder, "builder", 'print("=====", json.dumps(told("mistake.yml", dry=True)))')
    assert "Cannot resolve routine `e2e_latency_version`" in missing
