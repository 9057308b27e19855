"""The nodes of a query, by position or by id."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex, TypeVar, overload

from sparklatency.figures import NodeFigures

T = TypeVar("T")
N = TypeVar("N", bound=NodeFigures)


class Nodes(tuple[N, ...]):
    """Nodes in the order of the plan, upstream first; by position, or by node id."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> N: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[N, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> N | tuple[N, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [node for node in self if node.node == key]
        if len(found) != 1:
            problem = f"{len(found)} queries have a node" if found else "there is no node"
            raise KeyError(f"{problem} {key!r}; nodes: {', '.join(node.node for node in self) or 'none'}")
        return found[0]

    def __contains__(self, key: object) -> bool:
        """Tells whether there is a node of that id; or, as in any tuple, that very node."""
        if isinstance(key, str):
            return any(one.node == key for one in self)
        return super().__contains__(key)

    @overload
    def get(self, key: SupportsIndex | str) -> N | None: ...
    @overload
    def get(self, key: SupportsIndex | str, default: T) -> N | T: ...
    def get(self, key: SupportsIndex | str, default: object = None) -> object:
        """Returns the node at that position or of that id, or else the default.

        Raises:
            KeyError: several queries have a node of that id.
        """
        if isinstance(key, str):
            there = any(one.node == key for one in self)
        else:
            there = -len(self) <= index(key) < len(self)
        return self[key] if there else default
