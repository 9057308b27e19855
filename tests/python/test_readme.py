"""What README and the pages show: Python runs, commands are commands, links and pictures are there.

Python examples run one after another in one namespace, README's first, as a reader would try them. A block
that cannot run here (it needs a broker, say) opens with ```python no-run, and is compiled.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from sparklatency import latency
from sparklatency.cli import main
from sparklatency.words import UNKNOWN
from support import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparklatency.values.queries import QueryLatency

pytestmark = pytest.mark.one_line

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "python" / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text(page: Path) -> str:
    """What a reader sees of it: the comments say how outputs are made."""
    return re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader waits half a minute, and sees more. Here an example goes on as soon as a batch has ended.

    Of the query whose last window closes by itself it goes on when all twenty records have been given out.
    README's first example has a loop of its own, which waits for a second at a time.
    """
    await_termination = StreamingQuery.awaitTermination

    def is_enough(query: StreamingQuery) -> bool:
        if query.name != "closing":
            return bool(latency(query).history().batches)
        [[given_out]] = SparkSession.active().sql("SELECT sum(count) FROM closing").collect()
        return bool(given_out == 20)

    def await_figures(query: StreamingQuery, seconds: int) -> bool:
        if seconds <= 1:
            return bool(await_termination(query, seconds))
        eventually(lambda: is_enough(query) or None)
        return False

    monkeypatch.setattr(StreamingQuery, "awaitTermination", await_figures)


@pytest.mark.usefixtures("running", "soon")
def test_examples_run(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {"spark": spark}
    examples = [(page, example) for page in PAGES for example in blocks(page, "python")]
    assert examples
    for place, (page, example) in enumerate(examples):
        exec(compile(example, f"an example of {page.name}", "exec"), namespace)
        said = capsys.readouterr().out
        for query in spark.streams.active:
            assert query.exception() is None, said
        if place == 0:
            assert_a_cause_is_named(said)
            assert_the_longest_part_is_named(latency("orders").query)
        if page.name == "markers.md":
            assert_markers_find_the_step(said)


def assert_a_cause_is_named(said: str) -> None:
    """README's first example waits for records: it shows how old they are at each node, and why."""
    heading, _, _, source, sink, headline, *_ = said.splitlines()
    assert heading.startswith("orders · ")
    for node, row in (("source", source), ("sink", sink)):
        assert re.match(rf"{node} +[1-9]", row), said
        assert UNKNOWN not in row, said
    # Which part leads in the first batches of a driver depends on the machine.
    assert re.search(r" of .+ \(\d+ %\)", headline), said


def assert_the_longest_part_is_named(query: QueryLatency) -> None:
    """The work at several steps is one part, of which the longest step is told."""
    together: dict[tuple[str, ...], float] = defaultdict(float)
    for part in query.parts.of:
        together[part.names] += max(part.ms, 0)
    longest = max(together, key=lambda names: together[names])
    leading = [part for part in query.parts.of if part.names == longest]
    codes = {"slowest-step" if part.code == "work" else part.code for part in leading}
    assert {query.headline.code} == codes, query
    assert query.headline.own in [part.ms for part in leading], query


def assert_markers_find_the_step(said: str) -> None:
    """What the comments of the example promise: by operators, to the commit, and by the markers alone."""
    headline, to_commit, _, named = said.splitlines()
    assert headline.startswith("Slowest step: looked up, ")
    assert re.match(r"Latency markers take .+ s from read to the commit, on average\.", to_commit)
    assert named == "looked up"


@each_page
def test_examples_that_cannot_run_here_compile(page: Path) -> None:
    for example in blocks(page, "python no-run"):
        compile(example, page.name, "exec")
    for prompt in blocks(page, "pycon"):
        for statement in re.findall(r"^>>> (.*)$", prompt, re.MULTILINE):
            compile(statement, page.name, "single")


def test_the_tutorial_shows_its_script() -> None:
    assert blocks(DOCS / "tutorial.md", "python no-run") == [
        (DOCS / "tutorial.py").read_text(encoding="utf-8")
    ]


def commands(page: Path) -> Iterator[str]:
    """Every `sparklatency …` of a page: as code within a sentence, and in the blocks of a shell."""
    yield from re.findall(r"(?<!`)`(sparklatency [^`]+)`", text(page))
    for shell in blocks(page, "bash"):
        yield from re.findall(r"(?:^|\$\()(sparklatency .*?)(?:\)|[|>;#]|$)", shell, re.MULTILINE)
    for shell in blocks(page, "console"):
        yield from re.findall(r"^\$ (sparklatency .*?)(?:[|>;#]|$)", shell, re.MULTILINE)


@each_page
def test_every_command_line_is_one(page: Path) -> None:
    for line in commands(page):
        _, *arguments = shlex.split(line)
        command: click.Command | None = main
        while isinstance(command, click.Group) and arguments:
            _, command, arguments = command.resolve_command(click.Context(command), arguments)
        assert command is not None, line
        if not isinstance(command, click.Group):  # of which the page says no more than its name
            command.make_context(command.name, arguments)


def anchors(page: Path) -> set[str]:
    """What a link may name within a page, made of its headings as GitHub makes it."""
    headings = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_links_lead_somewhere_and_pictures_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text(page))
    for link in (markdown or html for markdown, html in links):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_reached_from_readme() -> None:
    reached = set(re.findall(r"\]\(python/docs/([\w-]+\.md)", text(PAGES[0])))
    assert reached == {page.name for page in PAGES[1:]}


def test_every_code_and_number_of_a_note_stands_on_the_page_of_rest() -> None:
    codes = text(ROOT / "tests/python/golden/codes.txt").splitlines()
    page = text(ROOT / "python/docs/rest.md")
    of_notes = [name for kind, name in (code.split() for code in codes) if kind in ("note", "number")]
    assert of_notes
    assert [name for name in of_notes if f"`{name}`" not in page] == []


def test_each_part_that_can_lead_has_a_line_of_advice() -> None:
    heading = "| the part that leads | what the headline names | what to do |\n"
    rows = text(DOCS / "measured.md").split(heading)[1].split("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    codes = (ROOT / "tests/python/golden/codes.txt").read_text(encoding="utf-8").splitlines()
    parts = {code.removeprefix("part ").replace("-", " ") for code in codes if code.startswith("part ")}
    assert {name.split(",")[0] for name, _, _ in cells} == parts - {"processing"}  # which never leads
    assert all(advice for _, _, advice in cells)


def test_costs_are_those_of_the_results() -> None:
    check = [sys.executable, str(ROOT / "tests" / "bench" / "pages.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_costs_are_within_what_was_asked_for() -> None:
    """A mark in a query that does next to nothing, a reading of the clock, and a driver's first page."""
    results = ROOT / "tests" / "bench" / "results"
    marks = sorted(results.glob("marks-*.md"))
    assert len(marks) == 2
    for file in marks:
        light, _, _ = file.read_text(encoding="utf-8").partition("**a window aggregate")
        for variant, most in (("one mark", 3.0), ("10 marks", 2.5)):
            each = re.findall(rf"^\| {variant} \|[^|]*\|[^|]*\| ([\d.]+) \|", light, re.MULTILINE)
            assert len(each) == 3
            assert max(map(float, each)) <= most, (file.name, variant)
    clock = (results / "clock.md").read_text(encoding="utf-8")
    off = re.findall(r"\| (\d+) \| \d+ \|$", clock, re.MULTILINE)  # 99.9 %, and the greatest
    assert len(off) == 8
    assert max(map(int, off)) <= 1
    tab = (results / "tab.md").read_text(encoding="utf-8")
    [longest] = re.findall(r"^\| first page of the driver \|.* to (\d+) \|", tab, re.MULTILINE)
    assert int(longest) <= 1_000


def test_what_the_map_of_the_code_names_is_there() -> None:
    page = text(ROOT / "python/docs/internals.md")
    suites = {file.stem for file in (ROOT / "tests/jvm").rglob("*.scala")}
    named = re.findall(r"`(\w+(?:Suite|Laws))`", page)
    assert named
    assert [suite for suite in named if suite not in suites] == []
    assert [file for file in re.findall(r"`(tests/[\w/]+\.py)`", page) if not (ROOT / file).is_file()] == []
    folders = (ROOT / "jvm", ROOT / "tests" / "jvm")
    sources = {f"/{file.relative_to(ROOT).as_posix()}" for of in folders for file in of.rglob("*.scala")}
    files = [file.lstrip("…/") for file in re.findall(r"`((?:…/)?[\w/]+\.scala)`", page)]
    assert files
    assert [file for file in files if not any(source.endswith(f"/{file}") for source in sources)] == []
