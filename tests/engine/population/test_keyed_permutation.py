"""The secret shuffle is a permutation, the same in every arithmetic."""

import duckdb
import narwhals as nw
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.core.errors import BrokenInvariantError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.engine.population import keyed_permutation
from blender_dp.engine.population.keyed_permutation import PRIME, KeyedPermutation

keys = st.builds(KeyedPermutation, st.integers(1, PRIME - 1), st.integers(0, PRIME - 1))


@given(keys, st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=20))
def test_large_numbers_are_hashed_alike_and_without_overflow(
    key: KeyedPermutation, numbers: list[int]
) -> None:
    assert all(0 <= key.of_large(x) < PRIME for x in numbers)
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.table({"x": numbers}))
        shared = key.with_shuffled(nw.from_native(relation), "x")
        assert shared.to_native().fetchall() == [(x, key.of_large(x)) for x in numbers]


@pytest.mark.parametrize("prime", [7, 19, 23, 47, 1019])
def test_the_fifth_power_permutes_when_five_does_not_divide_the_order(
    prime: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same formula at sizes where every value can be looked at; 5 does not divide prime - 1."""
    monkeypatch.setattr(keyed_permutation, "PRIME", prime)
    assert (prime - 1) % 5
    for multiplier in (1, 2, prime - 1):
        key = KeyedPermutation(multiplier, 3)
        assert {key.of_small(x) for x in range(prime)} == set(range(prime))


def test_five_does_not_divide_the_order_of_the_prime_in_use() -> None:
    assert (PRIME - 1) % 5


def test_keys_are_drawn_from_the_source_passed_in() -> None:
    assert KeyedPermutation.draw(Randomness.seeded(1)) == KeyedPermutation.draw(
        Randomness.seeded(1)
    )
    assert KeyedPermutation.draw(Randomness.secure()) != KeyedPermutation.draw(Randomness.secure())


class Lowest(Randomness):
    """Whatever is drawn is 0."""

    def below(self, bound: int) -> int:
        assert bound > 0
        return 0


def test_the_least_key_there_is_still_permutes() -> None:
    """A multiplier of 0 would take every number to the same one: who is sampled would be fixed."""
    key = KeyedPermutation.draw(Lowest.seeded(1))
    assert key == KeyedPermutation(1, 0)
    assert len({key.of_small(x) for x in range(1000)}) == 1000


@pytest.mark.parametrize("multiplier", [0, -1, PRIME, 2 * PRIME])
def test_a_key_that_does_not_permute_is_refused(multiplier: int) -> None:
    with pytest.raises(BrokenInvariantError, match="multiplier"):
        KeyedPermutation(multiplier, 3)
