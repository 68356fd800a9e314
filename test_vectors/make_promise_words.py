"""Writes promise_words.json: what people are told of ε and δ, from decimals of 60 digits alone."""

from decimal import ROUND_CEILING, Decimal, getcontext

from vector_file import write_vectors

SPACE = "\u00a0"
EPSILONS = ("0.5", "1.0", "2.0", "3.0", "4.0", "5.25", "6.5", "8.0", "12.0")
CHANCES = (
    ("0.27", "1 in 3"),
    ("0.01", "1 in 100"),
    ("1e-05", "1 in 100,000"),
    ("3e-06", "1 in 333,333"),
    ("1e-06", "1 in 1 million"),
    ("3e-07", "1 in 3.3 million"),
    ("1e-07", "1 in 10 million"),
    ("1.5e-09", "1 in 666 million"),
    ("1e-09", "1 in 1 billion"),
    ("1e-12", "1 in 1 trillion"),
    ("1e-30", "1 in 1,000 trillion"),
)
NEVER = "For private reports it never fails."


def factor(epsilon: str) -> str:
    """Return e^ε, rounded up."""
    exact = Decimal(epsilon).exp()
    if exact < 10:
        return str(exact.quantize(Decimal("0.1"), ROUND_CEILING))
    return f"{int(exact.to_integral_value(ROUND_CEILING)):,}"


def surest(before: str, epsilon: str) -> Decimal:
    """Return how sure somebody can become at most who was ``before`` sure."""
    odds = Decimal(epsilon).exp() * Decimal(before) / (1 - Decimal(before))
    return odds / (1 + odds)


def percent(probability: Decimal) -> str:
    """Return a percentage, rounded up, with decimals enough to stay below 100."""
    decimals = 1
    while 1 - probability <= Decimal(10) ** -(decimals + 1):
        decimals += 1
    rounded = (100 * probability).quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING)
    return f"{rounded}{SPACE}%"


def chance(probability: Decimal) -> str:
    """Return a chance that is not too small: as one in so many, or as a percentage."""
    return (
        percent(probability) if probability > Decimal("0.1") else f"1 in {int(1 / probability):,}"
    )


def failing(who: str, chance_of_it: str) -> str:
    """Return for whom the limit may fail."""
    return f"{who}, this limit may fail with a chance of at most {chance_of_it}."


def main() -> None:
    """Write the file."""
    getcontext().prec = 60
    guesses = [
        {
            "epsilon": epsilon,
            "factor": factor(epsilon),
            "few": chance(surest("0.001", epsilon)),
            "half": percent(surest("0.5", epsilon)),
        }
        for epsilon in EPSILONS
    ]
    chances = [{"probability": number, "said": said} for number, said in CHANCES]
    opt_in, relay = "If you opt in", "If you opt in or use the relay"
    fails = [
        {"delta": delta, "preset": preset, "relay": has_relay, "said": said}
        for delta, preset, has_relay, said in (
            ("1e-05", "sharp", False, f"{failing(opt_in, '1 in 100,000')} {NEVER}"),
            ("1e-07", "sharp", True, f"{failing(relay, '1 in 10 million')} {NEVER}"),
            ("1e-05", "paper", False, failing("Whatever you choose", "1 in 100,000")),
        )
    ]
    write_vectors("promise_words.json", {"guesses": guesses, "chances": chances, "fails": fails})


if __name__ == "__main__":
    main()
