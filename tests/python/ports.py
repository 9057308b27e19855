"""Ports for servers that tests start."""

import socket
from contextlib import suppress
from secrets import randbelow


def free_port() -> int:
    """A free port below those that the kernel gives to outgoing connections, lest one of them take it."""
    while True:
        port = 15_000 + randbelow(17_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
