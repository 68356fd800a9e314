"""K-ary randomised response: a mechanism that only tests know, registered while a test runs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from blender_dp.core.blender import PRESETS
from blender_dp.core.certificate.certificate import Part
from blender_dp.core.channels.local_alg import WORD
from blender_dp.core.channels.mechanism import MECHANISMS
from blender_dp.core.channels.report import Layout, Question
from blender_dp.core.exact.enclosure import exp_enclosure, ln_enclosure
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.cells import BoolArray, Cells, FloatArray, IntArray
from blender_dp.core.local_alg.device import DRAWS, Draws
from blender_dp.core.parameters import Preset, exact

_BITS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class KaryMechanism:
    """A client names one cell, its own more often than any other."""

    name: ClassVar[str] = "k-ary"
    version: ClassVar[int] = 1
    title: ClassVar[str] = "K-ary randomised response"
    preset: ClassVar[Preset] = "sharp"
    layout: ClassVar[Layout] = "items"
    delta: ClassVar[float] = 0.0
    records_per_client: ClassVar[int] = 1
    query_share: ClassVar[float] = 0.0

    epsilon: float

    def channels(self, cells: Cells) -> dict[Question, "KaryChannel"]:
        return {"record": KaryChannel.of(cells.cell_count, exact(self.epsilon))}

    def estimators(self, cells: Cells) -> dict[Question, "KaryChannel"]:
        return self.channels(cells)

    def likelihood_ratio(self, cells: Cells) -> Fraction:
        return self.channels(cells)["record"].likelihood_ratio()

    def certify(self, cells: Cells, epsilon: Fraction, delta: Fraction) -> Part:
        channel, ratio = self.channels(cells)["record"], self.likelihood_ratio(cells)
        at_most = 1 / exp_enclosure(-epsilon, _BITS).ends()[1]  # e^ε, rounded down
        excess = Fraction(channel.threshold, WORD) * (1 - at_most / ratio)
        return Part(
            release="report",
            method="The ratio of two probabilities of a cell.",
            promised_epsilon=epsilon,
            promised_delta=delta,
            epsilon=ln_enclosure(ratio, _BITS).ends()[1],
            delta=max(excess, Fraction(0)),
            is_tight=True,
            constants={"cells": channel.size, "threshold": channel.threshold},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KaryChannel:
    """The true item with probability e^ε/(e^ε + N - 1), else another one."""

    size: int
    threshold: int
    subset_size: ClassVar[int] = 1

    @classmethod
    def of(cls, size: int, epsilon: Fraction) -> "KaryChannel":
        odds = Fraction(exp_enclosure(-epsilon, _BITS).high, 1 << _BITS)
        return cls(size=size, threshold=math.floor(WORD / (1 + (size - 1) * odds)))

    @property
    def truth(self) -> float:
        return self.threshold / WORD

    @property
    def lie(self) -> float:
        return (1 - self.truth) / (self.size - 1)

    @property
    def fake_weight(self) -> float:
        return (1 - self.lie) / (self.truth - self.lie)

    def estimate(self, counts: IntArray | FloatArray, reports: int) -> FloatArray:
        return (counts / reports - self.lie) / (self.truth - self.lie)

    def variance(self, p: FloatArray, reports: int) -> FloatArray:
        spread: FloatArray = p * self.truth * (1 - self.truth) + (1 - p) * self.lie * (1 - self.lie)
        return spread / ((self.truth - self.lie) ** 2 * reports)

    def likelihood_ratio(self) -> Fraction:
        return Fraction(self.threshold * (self.size - 1), WORD - self.threshold)


def draw_one(item: int, channel: KaryChannel, randomness: Randomness) -> tuple[int, ...]:
    if randomness.bits(64) < channel.threshold:
        return (item,)
    other = randomness.below(channel.size - 1)
    return (other + (other >= item),)


def draw_many(items: IntArray, channel: KaryChannel, randomness: Randomness) -> Iterator[BoolArray]:
    for item in items.tolist():
        named = np.zeros((1, channel.size), dtype=np.bool_)
        named[0, draw_one(item, channel, randomness)] = True
        yield named


def draw_counts(true_counts: IntArray, channel: KaryChannel, randomness: Randomness) -> IntArray:
    items = np.repeat(np.arange(channel.size), true_counts)
    counts = np.zeros(channel.size, dtype=np.int64)
    for named in draw_many(items, channel, randomness):
        counts += named[0]
    return counts


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the mechanism in both places, and let clients of ``sharp`` use it."""
    monkeypatch.setitem(MECHANISMS, KaryMechanism.name, KaryMechanism)
    draws = Draws(one=draw_one, many=draw_many, counts=draw_counts)
    monkeypatch.setitem(DRAWS, KaryChannel, draws)
    steps = replace(
        PRESETS["sharp"],
        choose_mechanism=lambda head_list, *_: KaryMechanism(epsilon=head_list.mechanism.epsilon),
    )
    monkeypatch.setitem(PRESETS, "sharp", steps)
