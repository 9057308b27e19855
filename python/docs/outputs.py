"""What the pages show, from the tutorial's pipeline while it runs. `make pages` has cog call these functions.

Each function writes a block of Markdown where it is called: a command and what it printed, or a picture.
The pipeline starts at the first call.
"""

from __future__ import annotations

import atexit
import os
import runpy
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, chdir, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import cog
from broker import resolved, running_broker
from browser import running_browser, show
from cluster import LINES, Spark
from pyspark.sql import SparkSession
from reader import DOCS, SCRIPT, Reader, block
from rich.console import Console

from sparklatency import configure, latency

BATCHES = 6
"""How many have to end before anything is shown: the first ones wait for classes to load."""

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
    "spark.metrics.namespace": "shop",
    "spark.sparklatency.granularity": "subtask",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
}


def terminal(command: str, *, notes: bool = False) -> None:
    """A command of a shell, and what it prints. Its `localhost:4040` is the pipeline's own UI.

    Args:
        command: as the page shows it.
        notes: whether the page shows what it says on stderr, too. Of other commands that is an error.
    """
    session, url = _session(), _url()
    app = session.sparkContext.applicationId
    shown = command.replace("$APP", app)
    done = subprocess.run(
        ["bash", "-c", shown.replace("localhost:4040", url.removeprefix("http://"))],  # noqa: S607
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SPARKLATENCY_URL": url,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if notes else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.stderr or not done.stdout:
        raise RuntimeError(f"{shown}: exit {done.returncode}, {done.stderr}")
    _fence("console", f"$ {shown}\n{_plain(done.stdout)}")


def python(*statements: str) -> None:
    """Statements at Python's prompt, and what they show."""
    names = {"latency": latency, "spark": _session()}
    said = StringIO()
    with redirect_stdout(said):
        for statement in statements:
            print(f">>> {statement}")
            exec(compile(statement, "a page", "single"), names)  # noqa: S102  shows values as the prompt does
    _fence("pycon", _plain(said.getvalue()))


def sql(statement: str) -> None:
    """A statement of SQL, and its rows."""
    rows = _session().sql(statement)._show_string(100, False)  # type: ignore[operator]
    _fence("sql", statement)
    cog.outl()
    _fence("", rows)


def beans(pattern: str) -> None:
    """MBeans of the driver, a line for each attribute, as a JMX console shows them."""
    jvm: Any = _session()._jvm
    lines = []
    for name in sorted(_ask("queryNames", jvm.javax.management.ObjectName(pattern), None), key=str):
        lines.append(str(name))
        attributes = [attribute.getName() for attribute in _ask("getMBeanInfo", name).getAttributes()]
        lines += [
            f"  {attribute} = {str(_ask('getAttribute', name, attribute)).replace('nan', 'NaN')}"
            for attribute in attributes
            if attribute != "Number"  # of Dropwizard's gauges, the same as Value
        ]
    _fence("", _plain("\n".join(lines)))


def script() -> None:
    """The tutorial's script."""
    _fence("python no-run", SCRIPT.read_text(encoding="utf-8"))


def automatic(code: str) -> None:
    """A query without a mark that reads the same topic, and the nodes that it has."""
    session = _session()
    _fence("python no-run", code)
    cog.outl()
    session.conf.set("spark.sparklatency.auto", "source,terminal,stateful")
    session.conf.set("spark.sparklatency.recording.level", "TRACE")
    session.conf.set("spark.sql.streaming.checkpointLocation", mkdtemp())
    brokers = _reader().broker.address
    exec(code.replace("localhost:9092", brokers), {"spark": session})  # noqa: S102
    _await(lambda: len(_batches("customers")) >= BATCHES)
    terminal("sparklatency operators --query customers")


def tab(file: str, alt: str, width: int = 1200, height: int = 900) -> None:
    """A picture of the tab, light and dark."""
    page = f"{_url()}/latency/query/?id={latency('orders').queries[0].run}"
    _pictures(file, alt, page, width, height)


def notebook(file: str, alt: str) -> None:
    """A picture of what a notebook shows of `latency(query)`, light and dark."""
    cells = "table{border-collapse:collapse}td,th{padding:4px 10px}tr:nth-child(even){background:#8882}"
    colours = f"body{{font:13px sans-serif;margin:8px}}{cells}"
    dark = "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}"
    html = (
        f"<!doctype html><meta charset=utf-8><style>{colours}{dark}</style>{latency('orders')._repr_html_()}"
    )
    page = _folder() / "notebook.html"
    page.write_text(html, encoding="utf-8")
    _pictures(file, alt, page.as_uri(), 680, 250)


def plot(file: str, alt: str) -> None:
    """What `plot()` draws."""
    import matplotlib

    matplotlib.use("agg")
    latency("orders").plot().figure.savefig(DOCS / file, dpi=100)  # type: ignore[union-attr]
    cog.outl(f"![{alt}]({file})")


def svg(file: str, alt: str, *commands: str) -> None:
    """A picture of a terminal with commands of ours and what they print."""
    console = Console(record=True, file=open(os.devnull, "w"), width=118, force_terminal=True)  # noqa: PTH123, SIM115
    for command in commands:
        console.print(f"[bold]$ {command}[/bold]", highlight=False)
        _in_process(command, console)
        console.print()
    (DOCS / file).write_text(
        console.export_svg(title="sparklatency", unique_id=Path(file).stem), encoding="utf-8"
    )
    cog.outl(f"![{alt}]({file})")


def _in_process(command: str, console: Console) -> None:
    from click.testing import CliRunner

    from sparklatency.cli import main

    done = CliRunner().invoke(main, command.split()[1:], env={"SPARKLATENCY_URL": _url()})
    console.print(_plain(done.stdout), highlight=False, markup=False)


def _pictures(file: str, alt: str, page: str, width: int, height: int) -> None:
    with running_browser(_folder()) as browser:
        for theme in ("light", "dark"):
            show(browser, page, (width, height), theme)
            assert browser.save_screenshot(str(DOCS / f"{file}-{theme}.png"))
    cog.outl("<picture>")
    cog.outl(f'  <source media="(prefers-color-scheme: dark)" srcset="{file}-dark.png">')
    cog.outl(f'  <img alt="{alt}" src="{file}-light.png">')
    cog.outl("</picture>")


def _fence(language: str, text: str) -> None:
    cog.outl(f"```{language}\n{text.rstrip()}\n```")


def _plain(text: str) -> str:
    """Text without blanks at the ends of lines, and without where this machine keeps things."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return lines.replace(_url().removeprefix("http://"), "localhost:4040").replace(str(DOCS.parents[1]), "…")


@cache
def _stack() -> ExitStack:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack


@cache
def _folder() -> Path:
    return Path(mkdtemp(prefix="sparklatency-pages-"))


@cache
def _reader() -> Reader:
    (_folder() / "broker").mkdir()
    broker = _stack().enter_context(running_broker(_folder() / "broker"))
    return Reader(Spark(LINES[0]), broker, _folder())


@cache
def _session() -> SparkSession:
    """The application, in this process, so that it can be asked by SQL and Python too."""
    reader = _reader()
    with reader.start("topics", block("kafka-topics.sh")) as topics:
        topics.finish(within=60)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = ",".join(resolved("connector"))
    builder = (
        SparkSession.builder.master("local[2]").appName("shop").config(map={"spark.jars": jars, **SETTINGS})
    )
    with chdir(_folder()):  # where the script leaves its checkpoint
        session = configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    _stack().callback(_stop, session)
    sys.argv[1:] = [reader.broker.address]
    threading.Thread(target=runpy.run_path, args=(str(SCRIPT),), daemon=True).start()
    _await(lambda: len(session.streams.active) == 1)
    _stack().enter_context(reader.start("producer", block("kafka-console-producer.sh")))
    _await(lambda: len(_batches("orders")) >= BATCHES)
    time.sleep(45)  # until what the first batches took is out of the window
    return session


def _stop(session: SparkSession) -> None:
    session.sparkContext.setLogLevel("OFF")  # what breaks off with the last batch is no error
    for query in session.streams.active:
        query.stop()
    session.stop()


def _batches(query: str) -> list[Any]:
    try:
        return [batch for batch in latency(query).history() if batch.input_rows]
    except Exception:  # there is no such query yet
        return []


def _url() -> str:
    url = _session().sparkContext.uiWebUrl
    assert url is not None
    return url


def _await(condition: Any, within: float = 240) -> None:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.5)


def _ask(method: str, *arguments: object) -> Any:
    """Calls the driver's MBean server, by its interface: what implements it is not open to py4j."""
    jvm: Any = _session()._jvm
    gateway: Any = _session().sparkContext._gateway
    server = jvm.java.lang.Class.forName("javax.management.MBeanServer")
    [found] = [
        one
        for one in server.getMethods()
        if one.getName() == method and one.getParameterCount() == len(arguments)
    ]
    packed = gateway.new_array(jvm.java.lang.Object, len(arguments))
    for place, argument in enumerate(arguments):
        packed[place] = argument
    return found.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), packed)
