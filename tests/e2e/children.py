"""Child processes that cannot outlive the suite, and waits that cannot outlast their bound."""

import atexit
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from jvms import SHORT_LIVED, archived
from waits import NotInTimeError, await_until

T = TypeVar("T")

PATIENCE = 6
"""How many times as long as it takes at the most on a machine that does nothing else. Three were too few on a
busy one; what has ended early fails at once."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def java_options(folder: Path, classes: Path | None = None) -> str:
    """What a JVM below us is started with, for JDK_JAVA_OPTIONS; with an archive of classes, if there is."""
    options = f"{SHORT_LIVED} -Djava.io.tmpdir={folder}"
    return f"{options} {archived(classes)}" if classes else options


class Child:
    """A process in a group of its own; `folder` takes its output (``<name>.out``, ``.log``) and its scratch.

    The whole group is killed when the ``with`` block ends, and at exit should the block never get there.
    Should pytest itself be killed, the kernel kills the child, and what the child started in turn ends with
    it, as ``test_leaves_nothing_behind`` proves.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.out, self.log = folder / f"{name}.out", folder / f"{name}.log"
        with self.out.open("wb") as out, self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=log,
                env={**os.environ, "JDK_JAVA_OPTIONS": java_options(folder), **(env or {})},
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        atexit.register(self.kill)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """Kills the group. Its leader is reaped only then, lest its id have become someone else's."""
        if self._process.returncode is None:
            with self._process:
                os.killpg(self._process.pid, signal.SIGKILL)
        atexit.unregister(self.kill)

    def ended(self) -> int | None:
        """The exit code, or None while the process runs. Does not reap: the id stays ours until `kill`."""
        status = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return None if status is None else status.si_status

    def say(self, line: str) -> None:
        """Writes a line to the child's standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def lines(self) -> list[str]:
        """The lines of standard output that are complete."""
        return self.out.read_text().split("\n")[:-1]

    def told(self, prefix: str) -> list[list[str]]:
        """What it printed behind that word, among the lines of Spark's log: the words of each line."""
        return [line.split()[1:] for line in self.lines() if line.startswith(f"{prefix}: ")]

    def finish(self, within: float) -> list[str]:
        """Waits until the process ends well and returns what it printed."""
        self.until(lambda: self.ended() == 0, "it ends well", within, every=0.02)
        return self.lines()

    def until(self, condition: Callable[[], T | None], what: str, within: float, every: float = 0.1) -> T:
        """Waits for `condition`, which this child is to bring about; fails with its last words if not.

        Args:
            condition: true at the end.
            what: of a failure's message.
            within: how many seconds that may take where no other work goes on; waits `PATIENCE` times that.
            every: seconds from look to look.
        """

        def condition_while_well() -> T | None:
            failed = self.ended()
            value = condition()
            if failed and not value:
                raise self._error(f"failed with {failed} before {what}")
            return value

        try:
            return await_until(condition_while_well, PATIENCE * within, every)
        except NotInTimeError:
            raise self._error(f"took more than {PATIENCE * within:g} s until {what}") from None

    def _error(self, what: str) -> AssertionError:
        last_words = (self.out.read_text() + self.log.read_text()).splitlines()[-40:]
        return AssertionError("\n".join([f"{self.name} {what}; its last words:", *last_words]))


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
