"""Configuration for monitoring systems, against the names that a running application has."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scraping import endpoint_of_page, job_of_page, required
from sparklatency.assets.metrics import (
    COMMIT_LATENCY,
    E2E_LATENCY,
    MARKER_LATENCY,
    QUERY_FAILED,
    clock_metrics,
    histogram,
    metrics,
    query_metrics,
    watermark_metrics,
)
from support import exported, python

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_line

APPLICATION = """
    import json
    from urllib.request import urlopen
    from pyspark.sql import SparkSession, functions as F
    from sparklatency import configure, latency, with_e2e_latency, with_system_time_watermark
    from waits import EVENTS_WITHIN, await_until

    builder = SparkSession.builder.master("local[1]").config(map={
        "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
        "spark.metrics.namespace": "shop.eu",
        "spark.sparklatency.auto": "stateful",
        "spark.sparklatency.granularity": "subtask",
        "spark.sparklatency.recording.level": "TRACE",
        "spark.sparklatency.markers.interval": "1s",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.port": "0",
    })
    spark = configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    source = with_e2e_latency(rows, "source")
    counts = source.groupBy(F.window("timestamp", "1 second")).agg(F.max("timestamp").alias("newest"))
    sink = with_e2e_latency(counts, 'the "sink".1, %', timestamp="newest")
    query = sink.writeStream.queryName("or.ders").outputMode("update").format("noop").start()
    by_clock = with_system_time_watermark(spark.readStream.format("rate").load(), "timestamp", "1 second")
    counts = by_clock.groupBy(F.window("timestamp", "1 second")).count()
    clocked = counts.writeStream.queryName("clocked").outputMode("update").format("noop").start()

    def is_known(query):
        [figures] = latency(query).queries or [None]
        return figures and figures.last_batch and figures.last_batch.watermark and figures.nodes[-1].records

    def text():  # while a batch runs
        address = f"{spark.sparkContext.uiWebUrl}/api/v1/latency/prometheus"
        found = urlopen(address, timeout=300).read().decode()
        return "sparklatency_batch_in_progress_seconds" in found and found

    await_until(lambda: is_known(query) and is_known(clocked), EVENTS_WITHIN, every=0.05)
    print("# both are known", flush=True)  # who reads what is printed waits for 720 seconds
    scraped = await_until(text, EVENTS_WITHIN, every=0.05)

    # By reflection: py4j does not get at the server itself, whose class the JDK does not export.
    java, array = spark._jvm.java.lang, spark.sparkContext._gateway.new_array
    server = java.management.ManagementFactory.getPlatformMBeanServer()
    methods = {one.getName(): one for one in java.Class.forName("javax.management.MBeanServer").getMethods()}

    def ask(method, *arguments):
        values = array(java.Object, len(arguments))
        for place, argument in enumerate(arguments):
            values[place] = argument
        return methods[method].invoke(server, values)

    beans, odd, named = [], [], spark._jvm.com.codahale.metrics.jmx.DefaultObjectNameFactory().createName
    for domain in ("metrics", "sparklatency"):
        for name in ask("queryNames", spark._jvm.javax.management.ObjectName(f"{domain}:*"), None):
            attributes = [one.getName() for one in ask("getMBeanInfo", name).getAttributes()]
            values = {attribute: ask("getAttribute", name, attribute) for attribute in attributes}
            beans.append([name.getDomain(), name.getKeyPropertyListString(), values])
            if domain == "metrics":
                of_odd = name.getKeyProperty("name").replace("shop.eu", "shop, eu: 1")
                name = named(name.getKeyProperty("type"), domain, of_odd)
            odd.append([name.getDomain(), name.getKeyPropertyListString(), values])
    print(json.dumps({"shop.eu": beans, "shop, eu: 1": odd, "scraped": scraped}, default=str))
"""

Bean = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def process() -> dict[str, Any]:
    """What a process shows that has every metric there is."""
    found: dict[str, Any] = json.loads(python(APPLICATION))
    return found


@pytest.fixture(scope="module", params=["shop.eu", "shop, eu: 1"])
def namespace(request: pytest.FixtureRequest) -> str:
    """That of its gauges. JmxSink quotes the other, as it does here, for JMX would not take it as it is."""
    return str(request.param)


@pytest.fixture(scope="module")
def beans(process: dict[str, Any], namespace: str) -> list[Bean]:
    """Domain, properties and figures of its MBeans."""
    gauge = re.compile(r"\.sparklatency\.(query|executor)\.")
    ours = [bean for bean in process[namespace] if bean[0] == "sparklatency" or gauge.search(bean[1])]
    for _, _, figures in ours:
        figures.pop("Number", None)  # of Dropwizard's gauges, the same as Value
    return [(domain, properties, figures) for domain, properties, figures in ours]


@pytest.fixture(scope="module")
def series(process: dict[str, Any]) -> set[str]:
    """Names of the series that Prometheus scrapes from it."""
    return set(re.findall(r"^(sparklatency_\w+)\{", process["scraped"], re.MULTILINE))


def seen_by_jmx_exporter(beans: list[Bean]) -> list[str]:
    """What jmx_exporter matches rules against: `domain<key=value, …><>attribute: value`.

    It reads gauges, and our own beans of threads: the bean of a clock has what gauges have.
    """
    key_value = re.compile(r'([^,=]+)=("(?:[^"\\]|\\.)*"|[^,]*)')
    return [
        f"{domain}<{', '.join(f'{k}={v}' for k, v in key_value.findall(properties))}><>{name}: {value}"
        for domain, properties, values in beans
        if domain == "metrics" or "thread-id=" in properties
        for name, value in values.items()
    ]


def test_jmx_exporter_reads_every_gauge(beans: list[Bean]) -> None:
    pattern, _ = yaml.safe_load(exported("jmx-exporter"))["includeObjectNames"]
    read = pattern.removesuffix(",*") + "*"  # other properties may follow
    assert [keys for name, keys, _ in beans if name == "metrics" and not fits(read, name, keys)] == []


def test_every_rule_of_jmx_exporter_matches_and_every_figure_is_matched_once(beans: list[Bean]) -> None:
    inputs = seen_by_jmx_exporter(beans)
    rules = yaml.safe_load(exported("jmx-exporter"))["rules"]
    matches = {rule["name"]: [one for one in inputs if re.match(rule["pattern"], one)] for rule in rules}
    assert len(matches) == len(rules)
    assert [name for name, matching in matches.items() if not matching] == []
    assert sorted(inputs) == sorted(one for matching in matches.values() for one in matching)


def test_the_labels_of_jmx_exporter_are_the_ids(beans: list[Bean], namespace: str) -> None:
    rules = {rule["name"]: rule for rule in yaml.safe_load(exported("jmx-exporter"))["rules"]}

    def labels(metric: str) -> set[tuple[str, ...]]:
        rule = rules[f"sparklatency_{metric}_seconds"]
        found = (re.match(rule["pattern"], one) for one in seen_by_jmx_exporter(beans))
        templates = [label.replace("$", "\\") for label in rule["labels"].values()]
        ids = {tuple(match.expand(template) for template in templates) for match in found if match}
        return {one for one in ids if "clocked" not in one}

    nodes = {"source", "the%20%22sink%22%2E1%2C%20%25"}
    assert labels("record_e2e_latency_p99") == {(namespace, "driver", "or%2Eders", node) for node in nodes}
    assert ("or.ders-driver", "0_0", "source") in labels("task_record_e2e_latency_p99")
    places = {("source", "", node, "0") for node in nodes} | {("source", "", "__commit__", "")}
    assert labels("marker_latency_p99") == {(namespace, "driver", "or%2Eders", *place) for place in places}
    assert labels("source_watermark_lag") == {
        (namespace, "driver", "or%2Eders", "rate", "timestamp", "event-time")
    }
    assert labels("clock_offset") == labels("clock_offset_bound") == {(namespace, "driver", "driver")}


def test_every_rule_of_opentelemetry_finds_a_bean_and_its_attributes(beans: list[Bean]) -> None:
    for rule in yaml.safe_load(exported("otel"))["rules"]:
        found = [
            values
            for bean in rule.get("beans") or [rule["bean"]]
            for name, keys, values in beans
            if fits(bean, name, keys)
        ]
        assert found, rule
        assert all(rule["mapping"].keys() <= values.keys() for values in found), rule


def fits(bean: str, name: str, keys: str) -> bool:
    domain, properties = bean.split(":", 1)
    return name == domain and bool(re.fullmatch(re.escape(properties).replace(r"\*", ".*"), keys))


def test_milliseconds_become_seconds_everywhere() -> None:
    of_jmx = yaml.safe_load(exported("jmx-exporter"))["rules"]
    assert {rule.get("valueFactor") for rule in of_jmx if rule["name"].endswith("_seconds")} == {0.001}
    assert {rule.get("valueFactor") for rule in of_jmx if rule["name"].endswith("_total")} == {None}
    of_otel = [one for rule in yaml.safe_load(exported("otel"))["rules"] for one in rule["mapping"].values()]
    assert {(one.get("sourceUnit"), one["unit"]) for one in of_otel} == {
        ("ms", "s"),
        (None, "{record}"),
        (None, "{marker}"),
        (None, "{task}"),
        (None, "1"),
    }


def names(expressions: list[str]) -> set[str]:
    return set(re.findall(r"\bsparklatency_\w+", " ".join(expressions)))


@pytest.mark.parametrize("task", ["3_1", "__other__"])
def test_a_rule_of_jmx_exporter_matches_each_bean_of_tasks(task: str) -> None:
    """Also the one of those that are too many. jmx_exporter matches from the begin."""
    rules = yaml.safe_load(exported("jmx-exporter"))["rules"]
    bean = f"sparklatency<type=stream-task-metrics, thread-id=main, task-id={task}><>records: 7"
    [rule] = [rule for rule in rules if re.match(rule["pattern"], bean)]
    assert (rule["name"], rule["labels"]["task"]) == ("sparklatency_task_records_total", "$2")


def test_what_the_endpoint_gives_is_called_as_the_table_says(series: set[str]) -> None:
    assert {name for name in series if name.endswith("_total")} == {
        one.prometheus for one in (*metrics(), *query_metrics()) if one.kind == "counter"
    }
    assert {
        f"{histogram(measure)}_bucket" for measure in (E2E_LATENCY, COMMIT_LATENCY, MARKER_LATENCY)
    } <= series
    assert {"sparklatency_commit_age_seconds", "sparklatency_age_part_seconds", QUERY_FAILED} <= series
    assert series & {one.prometheus for one in query_metrics()}
    assert {one.prometheus for one in clock_metrics()} <= series
    always = {one.prometheus for one in watermark_metrics()} - {"sparklatency_source_watermark_idle_seconds"}
    assert always <= series


def test_alerts_ask_for_what_the_endpoint_gives_and_take_limits(series: set[str]) -> None:
    [group] = yaml.safe_load(exported("prometheus-rules", "--p99", "2500ms", "--watermark-lag", "1m"))[
        "groups"
    ]
    rules = {rule["alert"]: rule for rule in group["rules"]}
    expression = rules["SparkRecordLatencyHigh"]["expr"]
    assert "rate(sparklatency_record_e2e_latency_seconds_bucket[5m])" in expression
    assert expression.startswith("max by (app, query) (")
    assert expression.endswith(") > 2.5")
    lags = re.findall(r"watermark_lag_seconds\[1m\]\) > (\S+)", rules["SparkWatermarkBehind"]["expr"])
    assert set(lags) == {"60"}
    sometimes = {one.prometheus for one in query_metrics()}  # such as the oldest record that waits
    assert names([rule["expr"] for rule in rules.values()]) <= series | sometimes
    assert all(rule["annotations"]["summary"] for rule in rules.values())


def test_who_scrapes_as_the_page_says_looks_often_enough_for_the_alerts() -> None:
    [group] = yaml.safe_load(exported("prometheus-rules"))["groups"]
    windows = re.findall(r"\[(\d+\w)\]", " ".join(rule["expr"] for rule in group["rules"]))
    assert 4 * seconds(job_of_page()["scrape_interval"]) <= min(map(seconds, windows))


def test_pods_are_scraped_as_a_driver_is() -> None:
    job, endpoint = job_of_page(), endpoint_of_page()
    scraped = ("metrics_path", "scrape_interval", "honor_labels")
    assert [endpoint[name] for name in ("path", "interval", "honorLabels")] == [job[name] for name in scraped]


def test_who_scrapes_as_the_page_says_is_told_of_a_hung_query_within_a_minute() -> None:
    [group] = yaml.safe_load(exported("prometheus-rules"))["groups"]
    [stalled] = [rule for rule in group["rules"] if rule["alert"] == "SparkBatchStalled"]
    [least] = set(re.findall(r"> (\d+) and", stalled["expr"]))
    assert "for" not in stalled
    assert int(least) + seconds(job_of_page()["scrape_interval"]) + seconds(group["interval"]) <= 60


def seconds(duration: str) -> int:
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def test_alerts_have_all_digits_of_their_limits() -> None:
    text = exported("prometheus-rules", "--p99", "1234567ms", "--watermark-lag", "12345678s")
    [group] = yaml.safe_load(text)["groups"]
    limits = {limit for rule in group["rules"] for limit in re.findall(r"> ([\d.e+]{3,})", rule["expr"])}
    assert limits == {"1234.567", "12345678"}


def test_a_dashboard_asks_for_what_the_endpoint_gives(series: set[str]) -> None:
    board = json.loads(exported("grafana"))
    assert [one["name"] for one in board["templating"]["list"]] == ["datasource", "app", "query", "node"]
    targets = [target for panel in board["panels"] for target in panel["targets"]]
    variables = [one["query"] for one in board["templating"]["list"]]
    asked = names([target["expr"] for target in targets] + variables)
    assert asked <= series
    assert len(asked) == 19
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert {target["datasource"]["uid"] for target in targets} == {"${datasource}"}
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
    assert len(places) == len(board["panels"])


def test_no_panel_mixes_applications_up_that_have_queries_of_one_name() -> None:
    """But for the heatmap, which shows all that is chosen together."""
    board = json.loads(exported("grafana"))
    lines = [target for one in board["panels"] if one["type"] != "heatmap" for target in one["targets"]]
    assert {target["legendFormat"].split()[0] for target in lines} == {"{{app}}"}
    added_up = [by for target in lines for by in re.findall(r"\bby \((.*?)\)", target["expr"])]
    assert {by.split(", ")[0] for by in added_up} == {"app"}


def test_the_axes_of_the_dashboard_begin_at_0_unless_a_figure_may_be_negative() -> None:
    """A part of the age may be, and the lag of a watermark that is ahead of the clock."""
    panels = [one for one in json.loads(exported("grafana"))["panels"] if one["type"] == "timeseries"]
    axes = {one["title"]: one["fieldConfig"]["defaults"].get("min") for one in panels}
    signed = {title for title, least in axes.items() if least is None}
    assert signed == {
        "Watermark behind the clock",
        "Source's watermark behind the clock",
        "Age at the commit, by part",
    }
    assert {axes[title] for title in axes.keys() - signed} == {0}


def test_promtool_takes_the_alerts_and_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    promtool = required("promtool")
    panels = json.loads(exported("grafana"))["panels"]
    expressions = [
        target["expr"].replace("$__rate_interval", "1m") for one in panels for target in one["targets"]
    ]
    recorded = [{"record": f"panel:{number}", "expr": one} for number, one in enumerate(expressions)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}))
    (tmp_path / "alerts.yml").write_text(exported("prometheus-rules"))
    for file in ("panels.yml", "alerts.yml"):
        checked = subprocess.run(
            [promtool, "check", "rules", str(tmp_path / file)], capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
