"""Who may see Spark's pages may see ours, and nobody else.

Users are told apart as on YARN: Spark's own filter believes a cookie, if it comes from the proxy's host.
"""

from __future__ import annotations

import json

import pytest

from support import python

pytestmark = pytest.mark.one_line

APPLICATION = """
    import json
    import time
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen
    from pyspark.sql import SparkSession, functions as F
    from sparklatency import configure, latency, with_e2e_latency

    def say(step):
        print("#", step)

    USERS = "org.apache.spark.deploy.yarn.AmIpFilter"
    builder = SparkSession.builder.master("local[1]").config(map={
        "spark.acls.enable": "true",
        "spark.ui.view.acls": "alice",
        "spark.ui.filters": USERS,
        f"spark.{USERS}.param.PROXY_HOSTS": "127.0.0.1",
        f"spark.{USERS}.param.PROXY_URI_BASES": "http://127.0.0.1/proxy",
        "spark.ui.port": "0",
    })
    say("it starts")
    spark = configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    say("a query runs")
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    marked = with_e2e_latency(rows, "sink", timestamp="timestamp")
    query = marked.writeStream.queryName("orders").format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    while not latency(query).history().batches:
        time.sleep(0.05)
    say("it has figures")

    def status(path, user):
        request = Request(spark.sparkContext.uiWebUrl + path, headers={"Cookie": f"proxy-user={user}"})
        try:
            with urlopen(request) as answer:
                found = answer.status
        except HTTPError as refused:
            found = refused.code
        say(f"{path} answers {user}")
        return found

    application = f"/api/v1/applications/{spark.sparkContext.applicationId}"
    paths = {
        "Spark's page": "/jobs/",
        "Spark's REST": f"{application}/jobs",
        "the tab": "/latency/",
        "the tab as JSON": "/latency/json/",
        "a query's page": f"/latency/query/?id={query.runId}",
        "a query's page as JSON": f"/latency/query/json/?id={query.runId}",
        "all queries": f"{application}/latency",
        "a query": f"{application}/latency/queries/orders",
        "its batches": f"{application}/latency/queries/orders/batches",
        "an application for Prometheus": f"{application}/latency/prometheus",
        "all queries of the driver": "/api/v1/latency",
        "a query of the driver": "/api/v1/latency/queries/orders",
        "its batches of the driver": "/api/v1/latency/queries/orders/batches",
        "the driver for Prometheus": "/api/v1/latency/prometheus",
    }
    answers = {user: {what: status(path, user) for what, path in paths.items()} for user in ("alice", "bob")}
    print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, int]]:
    """By user, who is in the list of those who may see the UI or is not: the status of each page."""
    found: dict[str, dict[str, int]] = json.loads(python(APPLICATION, SPARK_LOCAL_IP="127.0.0.1"))
    return found


def test_who_may_see_the_ui_sees_all_of_ours(answers: dict[str, dict[str, int]]) -> None:
    assert set(answers["alice"].values()) == {200}, answers["alice"]


def test_who_may_not_see_the_ui_sees_none_of_ours(answers: dict[str, dict[str, int]]) -> None:
    assert set(answers["bob"].values()) == {403}, answers["bob"]
