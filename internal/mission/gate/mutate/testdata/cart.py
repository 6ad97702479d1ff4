#!/usr/bin/env python3
"""Prices.

>>> total([1, 2])
3
"""
from __future__ import annotations
import os, sys
import logging

log = logging.getLogger(__name__)
LIMIT = 10

class Cart:
    """A cart."""
    items: list[str]
    rate: float = 0.2

    def __init__(self, items=None, *, strict: bool = True):
        self.items = items or []
        self.strict = strict

    @property
    def size(self) -> int:
        """The size."""
        return len(self.items)

    def add(self, item, count=1):
        if item is None or count <= 0:
            raise ValueError("count must be positive")
        log.debug("adding %s", item)
        for i in range(count):
            self.items.append(item)
        if not self.strict and item in self.items:
            return False
        while count > 0:
            count -= 1
            if count == 3:
                break
        return True

def total(values, tax: float | None = None):
    result = sum(v * 2 + 1 for v in values if v != 0)
    if tax:
        result = result + result * tax
    elif len(values) >= LIMIT:
        print("many", file=sys.stderr)
        result -= 5
    name = "total" + str(result)
    text = f"{name}: {result:.2f}"
    return (
        result,
        text,
    )

def test_total():
    assert total([1, 2]) == (8, "total8: 8.00"), "wrong total"
    assert total([]) != 3

@pytest.mark.parametrize("a,b", [(1, 2), (3, "x")])
def test_p(a, b):
    self.assertEqual(total(a), 7, "message")
    assert not a

if __name__ == "__main__":
    sys.exit(main())
