"""Randomness that was drawn before: what a device makes of it can be compared to the bit."""

from blender_dp.core.exact.randomness import Randomness


class GivenBytes(Randomness):
    """The library's own randomness, with its keystream replaced by given bytes."""

    __slots__ = ("left",)

    def __init__(self, uniform: bytes, *, is_private: bool = False) -> None:
        super().__init__(bytes(32), is_private=is_private)
        self.left = uniform

    def draw_bytes(self, count: int) -> bytes:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more was drawn than the vector has"
        return taken
