"""The tutorial, command by command, on a real broker: what its page promises comes true."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import pytest
from broker import running_broker
from children import PATIENCE
from cluster import LINES, Spark
from reader import Reader, block
from waits import await_until

from sampling import by_turns
from sparklatency import SparkLatencyError, latency
from sparklatency.values.answer import Headline
from sparklatency.view import Latency

ORDERS = 150
MORE = 10
"""How many batches it is looked at once the slow step has been named."""
SLOW_MS = 60
"""What the script's slow step takes for each order."""


@pytest.fixture(scope="module", params=by_turns(LINES))
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """With a broker of their own: the page names its topics."""
    folder = tmp_path_factory.mktemp("reader")
    with running_broker(tmp_path_factory.mktemp("broker")) as broker:
        # Limits are judged when the last order is long over: some window has to hold it still.
        yield Reader(Spark(request.param), broker, folder, {"spark.sparklatency.sample.window": "1h"})


@dataclass
class Headlines:
    """What the query said while orders came, by the batch that was the last then."""

    until_named: dict[int, Headline] = field(default_factory=dict)
    """Until the last two batches named the slow step."""
    after: dict[int, Headline] = field(default_factory=dict)


@pytest.fixture(scope="module")
def headlines() -> Headlines:
    return Headlines()


@pytest.fixture(scope="module")
def ui(reader: Reader, headlines: Headlines) -> Iterator[str]:
    """The address of the UI, when every order that was sent has been counted."""

    def look(said: dict[int, Headline]) -> None:
        found = figures(url)
        for query in found.queries if found else ():
            if query.last_batch is not None:
                said[query.last_batch.batch] = query.headline

    def is_named() -> bool:
        look(headlines.until_named)
        return last_named(headlines.until_named) == ["checked"] * 2

    def has_gone_on() -> bool:
        look(headlines.after)
        return len(headlines.after.keys() - headlines.until_named.keys()) >= MORE

    with reader.start("topics", block("kafka-topics.sh")) as topics:
        topics.finish(within=60)
    with reader.start("driver", block("spark-submit")) as driver:
        started = driver.until(
            lambda: re.search(r"'SparkUI' on port (\d+)", driver.log.read_text()), "it has a UI", within=300
        )
        url = f"http://127.0.0.1:{started[1]}"
        with ExitStack() as producers:
            producers.enter_context(reader.start("producer", block("kafka-console-producer.sh")))
            driver.until(lambda: records(url) >= ORDERS, f"it counts {ORDERS} orders", within=240, every=1)
            # Each order starts three processes. Where that takes long, too few come to keep the slow step at
            # work: then others write some, too.
            for number in range(PATIENCE):
                with suppress(TimeoutError):  # a test tells what it says instead
                    await_until(is_named, within=120, every=0.5)
                    break
                producer = reader.start(f"producer-{number}", block("kafka-console-producer.sh"))
                producers.enter_context(producer)
            with suppress(TimeoutError):
                await_until(has_gone_on, within=PATIENCE * 120, every=0.5)
        sent = reader.sent()
        driver.until(lambda: records(url) == sent, f"it counts all {sent} orders", within=120, every=1)
        yield url


def figures(url: str) -> Latency | None:
    try:
        return latency("orders", url=url)
    except SparkLatencyError:  # Spark is starting up, or no batch has ended
        return None


def last_named(headlines: dict[int, Headline]) -> list[str | None]:
    """The steps that were named after the last two batches."""
    return [headline.node for headline in [*headlines.values()][-2:]]


def records(url: str) -> int:
    found = figures(url)
    return 0 if found is None or "checked" not in found.nodes else found.nodes["checked"].records


def test_every_order_is_counted_on_its_way(ui: str) -> None:
    found = latency("orders", url=ui)
    assert found.critical_path == ("read", "checked", "totals")
    assert found.nodes["read"].records == found.nodes["checked"].records >= ORDERS
    assert 0 < found.nodes["totals"].records <= found.nodes["checked"].records


def test_the_slow_step_takes_at_least_what_it_sleeps(ui: str) -> None:
    batches = [batch for batch in latency("orders", url=ui).history() if batch.input_rows]
    assert batches
    for batch in batches:
        read, checked = batch.nodes["read"], batch.nodes["checked"]
        assert read.min is not None
        assert checked.min is not None
        assert checked.min >= read.min + SLOW_MS
        assert checked.own is not None
        assert checked.own >= SLOW_MS


def test_the_watermark_is_that_of_the_orders(ui: str) -> None:
    batch = latency("orders", url=ui).queries[0].last_batch
    assert batch is not None
    [watermark] = batch.watermarks
    assert (watermark.source, watermark.column, watermark.delay) == ("kafka[orders]", "placed", 10_000)


@pytest.mark.usefixtures("ui")
def test_the_headline_names_the_slow_step(headlines: Headlines) -> None:
    """As the slowest step or as what fills a batch, once batches follow one another."""
    texts = [headline.text for headline in headlines.until_named.values()]
    assert last_named(headlines.until_named) == ["checked"] * 2, texts
    assert "Slowest step: checked, " in texts[-1] or " at checked. " in texts[-1], texts


@pytest.mark.usefixtures("ui")
def test_the_headline_goes_on_naming_the_slow_step(headlines: Headlines) -> None:
    """Now and then a batch is short, and what leads is another part."""
    after = [one for batch, one in headlines.after.items() if batch not in headlines.until_named]
    assert len(after) >= MORE
    assert 2 * sum(one.node == "checked" for one in after) >= len(after), [one.text for one in after]


@pytest.mark.parametrize("command", ["info", "operators", "watermarks"])
def test_the_terminal_shows_the_query_of_the_tutorial(reader: Reader, ui: str, command: str) -> None:
    assert finished(reader, ui, f"sparklatency {command} --json")


def test_limits_of_the_tutorial_are_judged(reader: Reader, ui: str) -> None:
    limits = json.loads(
        "".join(finished(reader, ui, f"{block('sparklatency slo').strip()} --json || test $? = 3"))
    )
    assert limits["status"] in ("met", "missed")


def finished(reader: Reader, url: str, command: str) -> list[str]:
    with reader.start("terminal", f"export SPARKLATENCY_URL={url}\n{command}") as terminal:
        return terminal.finish(within=60)
