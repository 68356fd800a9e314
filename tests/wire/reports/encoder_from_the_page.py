"""An encoder written from docs/reference/write-a-client.md; it imports nothing of blender-dp.

Slow and plain on purpose: if the page leaves something out, this file cannot be right by accident.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor
from typing import Any

W = 2**64
Source = Callable[[int], bytes]
"""Gives so many uniform bytes."""


def encoded(
    head_list: dict[str, Any], query: str | None, url: str | None, report_id: bytes, source: Source
) -> dict[str, Any]:
    """Return the report of section 8."""
    mechanism = head_list["mechanism"]
    document = {
        "version": 1,
        "head_list": head_list["digest"],
        "mechanism": f"{mechanism['name']}/1",
        "report_id": text_of(report_id),
    }
    cells = [len(listed["urls"]) + 1 for listed in head_list["queries"]] + [1]
    cell = cell_of(head_list, query, url)
    if mechanism["name"] == "local-alg":
        return {**document, "cell": told_cell(mechanism, cells, cell, source)}
    question = question_of(report_id, Fraction(mechanism["query_share"]))
    size, item = sum(cells), cell
    if question == "query":
        size, item = len(cells), query_of(cells, cell)
    d, threshold = subset_size(size, Fraction(mechanism["epsilon"]))
    named = named_items(size, d, threshold, item, source)
    return {**document, "question": question, "items": text_of(packed(size, named))}


def cell_of(head_list: dict[str, Any], query: str | None, url: str | None) -> int:
    """Section 2."""
    first = 0
    for listed in head_list["queries"]:
        if query is not None and url is not None and listed["query"] == query:
            if url in listed["urls"]:
                return first + int(listed["urls"].index(url))
            return first + len(listed["urls"])
        first += len(listed["urls"]) + 1
    return first


def query_of(cells: Sequence[int], cell: int) -> int:
    query = 0
    while cell >= cells[query]:
        cell -= cells[query]
        query += 1
    return query


def question_of(report_id: bytes, query_share: Fraction) -> str:
    """Section 4."""
    digest = hashlib.sha256(b"blender-dp public coin 1\0" + report_id).digest()
    word = int.from_bytes(digest[:8], "big")
    return "query" if word < floor(query_share * W) else "record"


def word_from(source: Source) -> int:
    """Section 5."""
    return int.from_bytes(source(8), "big")


def number_below(bound: int, source: Source) -> int:
    bits = (bound - 1).bit_length()
    length = -(-bits // 8)
    while bound > 1:
        number = int.from_bytes(source(length), "big") >> (8 * length - bits)
        if number < bound:
            return number
    return 0


def e_to_minus(epsilon: Fraction) -> Fraction:
    """E(ε): by the decimal module, with more digits until rounding up is certain."""
    if epsilon >= 256:  # e^-256 is below 2^-256
        return Fraction(1, 2**256)
    digits = 120
    while True:
        with localcontext() as context:
            context.prec = digits
            exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
            value = Fraction((-exponent).exp())
        error = Fraction(1, 10 ** (digits - 6))
        low, high = (value - error) * 2**256, (value + error) * 2**256
        if floor(low) == floor(high):
            return Fraction(floor(high) + 1, 2**256)  # e^-ε is irrational: never a whole number
        digits *= 2


def subset_size(size: int, epsilon: Fraction) -> tuple[int, int]:
    """Section 6: d and T."""
    if size == 1:
        return 1, W
    a = e_to_minus(epsilon)
    c = floor(size * a / (1 + a))
    best: tuple[Fraction, int, int] | None = None
    for d in sorted({1, max(c, 1), min(c + 1, size - 1)}):
        threshold = floor(W * d / (d + (size - d) * a))
        if threshold * size > d * W:
            variance = Fraction(
                (d * W - threshold) * ((size - 1 - d) * W + threshold),
                (size * threshold - d * W) ** 2,
            )
            if best is None or variance < best[0]:
                best = variance, d, threshold
    if best is None:
        raise ValueError("epsilon is too small for 64 bits")
    return best[1], best[2]


def named_items(size: int, d: int, threshold: int, item: int, source: Source) -> list[int]:
    if size == 1:
        return [0]
    is_true = word_from(source) < threshold
    last, others = size - 1, d - 1 if is_true else d
    named: set[int] = set()
    for newest in range(last - others, last):
        draw = number_below(newest + 1, source)
        named.add(newest if draw in named else draw)
    if item in named and item != last:
        named.remove(item)
        named.add(last)
    if is_true:
        named.add(item)
    return sorted(named)


def packed(size: int, named: Sequence[int]) -> bytes:
    bits = (size - 1).bit_length()
    as_list = "".join(f"{item:0{bits}b}" for item in named) if bits else ""
    as_bitmap = "".join("1" if item in named else "0" for item in range(size))
    in_list, in_bitmap = -(-len(as_list) // 8), -(-size // 8)
    digits = as_bitmap if in_bitmap < in_list else as_list
    length = min(in_list, in_bitmap)
    return int(digits.ljust(8 * length, "0") or "0", 2).to_bytes(length, "big")


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def told_cell(mechanism: dict[str, Any], cells: Sequence[int], cell: int, source: Source) -> int:
    """Section 7."""
    records: int = mechanism["records_per_client"]
    epsilon, delta = (
        Fraction(mechanism["epsilon"]) / records,
        Fraction(mechanism["delta"]) / records,
    )
    share = Fraction(mechanism["query_budget_fraction"])

    def threshold(items: int, share: Fraction) -> int:
        if items == 1:
            return W
        lies = (items - 1) * e_to_minus(share * epsilon)
        found = floor(W * (1 + share * delta / 2 * lies) / (1 + lies))
        if found * items < W:
            raise ValueError("epsilon is too small for 64 bits")
        return found

    q = query_of(cells, cell)
    first = sum(cells[:q])
    if word_from(source) >= threshold(len(cells), share):
        told = number_below(len(cells) - 1, source)
        told = told + 1 if told >= q else told
        return sum(cells[:told]) + number_below(cells[told], source)
    if word_from(source) >= threshold(cells[q], 1 - share):
        other = number_below(cells[q] - 1, source)
        return first + other + (other >= cell - first)
    return cell
