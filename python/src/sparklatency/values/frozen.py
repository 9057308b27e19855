"""A mapping that does not change, and can be copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)


class FrozenMapping(Mapping[K, V_co]):
    """What a dict holds, for good. It equals any mapping that holds the same.

    Python's own view of a dict has no hash, and neither ``pickle`` nor ``copy`` takes it.
    """

    __slots__ = ("_of",)

    def __init__(self, of: Mapping[K, V_co]) -> None:
        self._of = dict(of)

    def __getitem__(self, key: K) -> V_co:
        return self._of[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __hash__(self) -> int:
        return hash(frozenset(self._of.items()))

    def __repr__(self) -> str:
        return repr(self._of)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self._of,)
