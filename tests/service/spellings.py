"""Ways to spell a JSON object that no honest client uses."""


def cut_off(body: bytes) -> bytes:
    return body[: len(body) // 2]


def twice(body: bytes) -> bytes:
    """Return the object with its first member repeated at the end."""
    first, _, _ = body[1:].partition(b", ")
    return body[:-1] + b", " + first + b"}"
