"""Meaning of ε and δ in plain words: how sure somebody can become, and how often that fails."""

import math

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def guess_limit(epsilon: float) -> str:
    """Return what ε limits; the other pages say the same (``pages/assets/shared/promises.js``)."""
    if math.exp(min(epsilon, 100.0)) >= 1e6:
        return "a guess about you may become almost certain"
    factor = math.exp(epsilon) * (1 - 1e-12)
    rounded = f"{math.ceil(10 * factor) / 10:.1f}" if factor < 10 else f"{math.ceil(factor):,}"
    return f"any guess about you becomes at most {rounded} times more likely"


def guess_example(epsilon: float) -> str:
    """Return what ε limits, by an example; the other pages say the same."""
    few, half = surest_after(0.001, epsilon), surest_after(0.5, epsilon)
    return (
        "For example, somebody thinks the chance is 1 in 1,000 that you searched for one certain "
        f"thing. Afterwards they can think it is {certainty(few) if few > 0.1 else one_in(few)} at "
        f"most. Somebody who was half sure can be {certainty(half)} sure at most. Usually they "
        "learn far less."
    )


def surest_after(before: float, epsilon: float) -> float:
    """Return how sure somebody can become at most who was ``before`` sure."""
    odds = math.exp(min(epsilon, 100.0)) * before / (1 - before)
    return odds / (1 + odds)


def certainty(probability: float) -> str:
    """Return a bound on a certainty: rounded up, with digits enough not to reach 100 %."""
    if probability > 1 - 1e-9:
        return "almost 100\u00a0%"
    decimals = max(1, math.ceil(-math.log10(1 - probability)) - 1)
    percent = math.ceil(probability * 10 ** (decimals + 2)) / 10**decimals
    return f"{percent:.{decimals}f}\u00a0%"


def one_in(probability: float) -> str:
    """Return a bound on a small probability, never too small.

    >>> one_in(0.0518), one_in(1e-7)
    ('1 in 19', '1 in 10 million')
    """
    chances = min(math.floor((1 + 1e-12) / probability), 10**15)
    for unit, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if chances >= unit:
            number = chances // unit if chances >= 10 * unit else chances * 10 // unit / 10
            return f"1 in {number:,g} {word}"
    return f"1 in {chances:,}"


def scientific(number: float) -> str:
    """Return a number as people write it.

    >>> scientific(4.0), scientific(1e-05), scientific(2.5e-07)
    ('4', '10⁻⁵', '2.5 × 10⁻⁷')
    """
    mantissa, found, exponent = f"{number:.4g}".partition("e")
    if not found:
        return mantissa
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    return power if mantissa == "1" else f"{mantissa} × {power}"
