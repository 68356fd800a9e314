"""A certificate checked by a second implementation, from its JSON and from the definitions alone.

Nothing is shared with the code under test: laws are written out outcome by outcome, exponentials
come from ``decimal``, and every swap, every pair of inputs and every subset is enumerated. Slow,
and meant to be: for lists of a few cells.
"""

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from core import fig_6_by_hand, subset_law_by_hand
from scipy.stats import binom, norm

DIGITS = 80
CLOSE = Fraction(1, 10**25)
"""How far two computations of one number may be apart, relative to it: 30 digits are written."""
UNIT = 2**30
"""A user's whole weight or share on the lattice, as docs and PRIVACY.md state it."""
MOST_RECORDS = 32
Law = dict[object, Decimal]


def check(document: Mapping[str, Any], listed_urls: list[int]) -> None:
    """Fail unless every number of the certificate is right for a list of these sizes."""
    with localcontext() as context:
        context.prec = DIGITS
        for account in document["accounts"]:
            for part in account["parts"]:
                _check_part(part, document, listed_urls)
            _check_sum(account)
    kept = all(account["verdict"] == "kept" for account in document["accounts"])
    assert document["verdict"] == ("kept" if kept else "broken")


def _check_sum(account: Mapping[str, Any]) -> None:
    """The parts add up to what is spent, and the promise less that is the slack."""
    for name in ("epsilon", "delta"):
        parts = sum((Fraction(part["spent"][name]) for part in account["parts"]), Fraction(0))
        spent, promised = Fraction(account["spent"][name]), Fraction(account["promised"][name])
        assert abs(spent - parts) <= CLOSE * max(parts, Fraction(1, 10**9))
        slack = Fraction(account["slack"][name])
        assert slack <= promised - spent + CLOSE
        assert slack >= promised - spent - CLOSE
    kept = all(
        Fraction(account["spent"][name]) <= Fraction(account["promised"][name])
        for name in ("epsilon", "delta")
    )
    assert account["verdict"] == ("kept" if kept else "broken")


def _check_part(
    part: Mapping[str, Any], document: Mapping[str, Any], listed_urls: list[int]
) -> None:
    constants = {name: Fraction(value) for name, value in part["constants"].items()}
    epsilon = Fraction(part["promised"]["epsilon"])
    _check_presence(part, constants, document)
    if "sensitivity" in constants:
        _check_noise(part, constants, document)
    elif "right_slope" in constants:
        _same_delta(part, _worst(_value_laws(constants), epsilon))
    elif "least_released" in constants and constants["records_per_user"] == 1:
        _same_delta(part, _worst(_name_laws(constants), epsilon))
    elif "least_released" in constants:
        _check_bound_of_many(part, constants)
    elif "discovery_sigma" in constants:
        _check_gaussian(part, constants)
    elif "honest" in constants:
        _check_batch(part, constants, sum(listed_urls) + len(listed_urls) + 1)
    elif "record_items" in constants and "query_items" not in constants:
        _check_report(part, constants, sum(listed_urls) + len(listed_urls) + 1)
    elif "query_threshold" in constants and "queries" in constants:
        _check_local_alg(part, document, listed_urls)
    else:
        _check_subsets(part, constants, listed_urls)


def _check_presence(
    part: Mapping[str, Any], constants: Mapping[str, Fraction], document: Mapping[str, Any]
) -> None:
    """The ε of adding or removing a user: from one changed record, or one side of an exchange."""
    stated, allowed = Fraction(part["add_remove_epsilon"]), Fraction(part["promised"]["delta"])
    least = stated * (1 - Fraction(1, 10**8))
    if "sensitivity" in constants:
        spent = _farthest_from_none(part["release"], document["parameters"])
        assert abs(stated - spent / constants["noise_scale"]) <= CLOSE * stated
    elif "right_slope" in constants:
        laws = _value_laws(constants)
        assert Fraction(_worst_presence(laws, stated)) <= allowed < _worst_presence(laws, least)
    elif "least_released" in constants and constants["records_per_user"] == 1:
        laws = _name_laws(constants)
        assert Fraction(_worst_presence(laws, stated)) <= allowed < _worst_presence(laws, least)
    elif "least_released" in constants:
        assert stated >= Fraction(part["promised"]["epsilon"]) / 2
    elif "discovery_sigma" in constants:
        limit = float(allowed)
        assert _gaussian_presence(constants, float(stated)) <= limit * (1 + 1e-6)
        assert _gaussian_presence(constants, float(stated) * (1 - 1e-3)) > limit
    else:  # a device reports in any case, so there is nothing to add or remove
        assert part["add_remove_epsilon"] == part["tight_epsilon"]


def _worst_presence(laws: list[Law], epsilon: Fraction) -> Decimal:
    """Return the largest divergence over all n → n - 1 and n - 1 → n."""
    odds, nothing = _exp(epsilon), Decimal(0)
    pairs = [pair for n in range(1, len(laws)) for pair in permutations(laws[n - 1 : n + 1])]
    return max(
        sum((max(p.get(o, nothing) - odds * q.get(o, nothing), nothing) for o in {*p, *q}), nothing)
        for p, q in pairs
    )


def _gaussian_presence(constants: Mapping[str, Fraction], epsilon: float) -> float:
    """In floats: one user against nobody, by how many of the records others have too."""
    unit, most = float(UNIT), int(constants["most_records"])
    first, second, third = (
        float(constants[f"{name}_sigma"]) for name in ("discovery", "sum", "scalar")
    )
    k, j = np.array([(k, j) for k in range(1, most + 1) for j in range(k + 1)]).T
    passes = norm.sf((float(constants["threshold"]) - unit / np.sqrt(k)) / first)
    own = (k - j) * np.log1p(-passes)
    mu = unit * np.sqrt(j / k / first**2 + 1 / second**2 + 2 / third**2)

    def curve(e: np.ndarray) -> np.ndarray:
        return np.asarray(norm.sf(e / mu - mu / 2) - np.exp(e + norm.logsf(e / mu + mu / 2)))

    removed = -np.expm1(own) + np.exp(own) * curve(epsilon - own)
    return float(max(removed.max(), curve(epsilon + own).max()))


def _same_delta(part: Mapping[str, Any], right: Decimal) -> None:
    spent, expected = Fraction(part["spent"]["delta"]), Fraction(right)
    assert expected * (1 - CLOSE) <= spent <= expected * (1 + CLOSE)


def _exp(x: Fraction) -> Decimal:
    return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


# Discovery: the law of what is seen of a record, by how many users gave it


def _name_laws(constants: Mapping[str, Fraction]) -> list[Law]:
    """Released or not, by the discrete Laplace law, summed value by value."""
    a, least = _exp(-1 / constants["noise_scale"]), int(constants["least_released"])
    far = int(200 * constants["noise_scale"]) + least
    mass = {y: (1 - a) / (1 + a) * a ** abs(y) for y in range(-far, far + 1)}
    laws: list[Law] = [{None: Decimal(1)}]
    for count in range(1, least + 6):
        released = sum(p for y, p in mass.items() if count + y >= least)
        laws.append({"released": Decimal(released), None: 1 - Decimal(released)})
    return laws


def _value_laws(constants: Mapping[str, Fraction]) -> list[Law]:
    """Every released value, or none, by the law with two slopes."""
    right, left = constants["right_slope"], constants["left_slope"]
    a, b, least = _exp(-right), _exp(-left), int(constants["least_released"])
    z = 1 / (1 / (1 - a) + b / (1 - b))
    highest = least + 6 + int(70 / right)
    laws: list[Law] = [{None: Decimal(1)}]
    for count in range(1, least + 4):
        law: Law = {
            value: z * (a ** (value - count) if value >= count else b ** (count - value))
            for value in range(least, highest)
        }
        law[None] = 1 - sum(law.values(), Decimal(0))
        laws.append(law)
    return laws


def _worst(laws: list[Law], epsilon: Fraction) -> Decimal:
    """Return the largest divergence over all n → n - 1 and m → m + 1."""
    odds, nothing = _exp(epsilon), Decimal(0)
    worst = nothing
    for n, m in product(range(1, len(laws)), range(len(laws) - 1)):
        before, after = (laws[n], laws[m]), (laws[n - 1], laws[m + 1])
        outcomes = product(*({*p, *q} for p, q in zip(before, after, strict=True)))
        total = nothing
        for first, second in outcomes:
            p = before[0].get(first, nothing) * before[1].get(second, nothing)
            q = after[0].get(first, nothing) * after[1].get(second, nothing)
            total += max(p - odds * q, nothing)
        worst = max(worst, total)
    return worst


def _check_bound_of_many(part: Mapping[str, Any], constants: Mapping[str, Fraction]) -> None:
    """The union bound of PRIVACY.md, step 2: e^(-L/b)·(e^(m/b) + m - 1)/(1 + a)."""
    b, m, least = (constants[k] for k in ("noise_scale", "records_per_user", "least_released"))
    bound = _exp(-least / b) * (_exp(m / b) + int(m) - 1) / (1 + _exp(-1 / b))
    assert not part["is_tight"]
    _same_delta(part, bound)


# Noise on sums


def _check_noise(
    part: Mapping[str, Any], constants: Mapping[str, Fraction], document: Mapping[str, Any]
) -> None:
    assert constants["sensitivity"] == _farthest_swap(part["release"], document["parameters"])
    spent = constants["sensitivity"] / constants["noise_scale"]
    assert abs(Fraction(part["tight_epsilon"]) - spent) <= CLOSE * spent
    assert spent <= Fraction(part["promised"]["epsilon"])
    assert part["spent"]["delta"] == "0"


def _farthest_swap(release: str, parameters: Mapping[str, Any]) -> int:
    """Return how far apart, in L1, two users can be in what is summed: the extreme ones, compared.

    A user has all records in one cell or another, or none; a scalar of a user is nothing or all.
    """
    paper = parameters["preset"] == "paper"
    whole = int(parameters["records_per_optin_user"]) if paper else UNIT
    users: dict[str, list[tuple[int, ...]]] = {
        "sums": [(whole, 0), (0, whole), (0, 0)],
        "scalars": [(0, 0), (whole, 0), (0, whole), (whole, whole)],
        "choice of the branch": [(0,), (whole,)],
        # Leaving moves the number by -4 to 2, joining by -2 to 4: see test_list_choice.py.
        "choice of the list": [(-2,), (4,)],
    }
    return max(
        sum(abs(x - y) for x, y in zip(one, other, strict=True))
        for one, other in product(users[release], repeat=2)
    )


def _farthest_from_none(release: str, parameters: Mapping[str, Any]) -> int:
    """Return how much one user adds, in L1, to what is summed."""
    paper = parameters["preset"] == "paper"
    whole = int(parameters["records_per_optin_user"]) if paper else UNIT
    most = {"sums": whole, "scalars": 2 * whole, "choice of the branch": whole}
    return {**most, "choice of the list": 4}[release]


def _check_gaussian(part: Mapping[str, Any], constants: Mapping[str, Fraction]) -> None:
    """In floats, from another library's normal law."""
    assert constants["unit"] == UNIT
    assert constants["most_records"] == MOST_RECORDS
    unit, most = float(UNIT), int(constants["most_records"])
    first, *others = (float(constants[f"{name}_sigma"]) for name in ("discovery", "sum", "scalar"))
    k, j = np.array([(k, j) for k in range(1, most + 1) for j in range(k + 1)]).T
    passes = norm.sf((float(constants["threshold"]) - unit / np.sqrt(k)) / first)
    own = (k - j) * np.log1p(-passes)  # ln of the probability that none of one's own is released
    squares = j / k * (unit / first) ** 2
    mu = np.sqrt(squares[:, None] + squares + sum(2 * (unit / sigma) ** 2 for sigma in others))
    epsilon = float(Fraction(part["promised"]["epsilon"])) + own - own[:, None]
    curve = norm.sf(epsilon / mu - mu / 2) - np.exp(epsilon + norm.logsf(epsilon / mu + mu / 2))
    needed = (-np.expm1(own)[:, None] + np.exp(own)[:, None] * curve).max()
    assert abs(float(part["spent"]["delta"]) - needed) < 1e-6 * needed
    assert not part["is_tight"]


# Clients


def _check_local_alg(
    part: Mapping[str, Any], document: Mapping[str, Any], listed_urls: list[int]
) -> None:
    """The whole matrix, every ordered pair of inputs."""
    parameters = document["parameters"]
    reports = int(parameters["records_per_client"])
    promise = fig_6_by_hand.Promise(
        epsilon=Fraction(parameters["epsilon"]),
        delta=Fraction(parameters["delta"]),
        f_c=Fraction(parameters["query_budget_fraction"]),
        m_c=reports,
    )
    rows = fig_6_by_hand.matrix(listed_urls, promise)

    def spent(epsilon: Fraction) -> Fraction:
        odds = fig_6_by_hand.exp(epsilon / reports)
        pairs = ((p, q) for p, q in product(rows, rows) if p is not q)
        worst: Fraction = max(fig_6_by_hand.hockey_stick(p, q, odds) for p, q in pairs)
        return reports * worst

    delta, allowed = Fraction(part["spent"]["delta"]), Fraction(part["promised"]["delta"])
    right = spent(Fraction(part["promised"]["epsilon"]))
    assert abs(delta - right) <= CLOSE
    tight = Fraction(part["tight_epsilon"])
    assert spent(tight) <= allowed + CLOSE
    assert spent(tight * (1 - Fraction(1, 10**8))) > allowed


def _check_subsets(
    part: Mapping[str, Any], constants: Mapping[str, Fraction], listed_urls: list[int]
) -> None:
    """Every subset that may be named, under every pair of inputs, for both questions."""
    sizes = {"record": sum(listed_urls) + len(listed_urls) + 1, "query": len(listed_urls) + 1}
    epsilon = Fraction(part["promised"]["epsilon"])
    odds, ratio, delta = fig_6_by_hand.exp(epsilon), Fraction(1), Fraction(0)
    for question, size in sizes.items():
        assert constants[f"{question}_items"] == size
        named = int(constants[f"{question}_named"])
        p_in = constants[f"{question}_threshold"] / 2**64
        first, second = (subset_law_by_hand.law(size, named, p_in, item) for item in (0, 1))
        ratio = max(ratio, *(p / second[told] for told, p in first.items()))
        excess = (p - odds * second[told] for told, p in first.items())
        delta = max(delta, sum((x for x in excess if x > 0), Fraction(0)))
    tight = Fraction(part["tight_epsilon"])
    assert tight * (1 - CLOSE) <= Fraction(_ln(ratio)) <= tight
    assert abs(Fraction(part["spent"]["delta"]) - delta) <= CLOSE


def _named_one(constants: Mapping[str, Fraction], cells: int) -> tuple[Fraction, Fraction]:
    """Return the probabilities of the own cell and of one other cell."""
    assert constants["record_items"] == cells
    own = constants["record_threshold"] / 2**64
    return own, (1 - own) / (cells - 1)


def _check_report(part: Mapping[str, Any], constants: Mapping[str, Fraction], cells: int) -> None:
    """One report that names one cell, by the ratio of its two probabilities."""
    own, other = _named_one(constants, cells)
    tight, right = Fraction(part["tight_epsilon"]), Fraction(_ln(own / other))
    assert right <= tight <= right * (1 + CLOSE)
    excess = own - Fraction(_exp(Fraction(part["promised"]["epsilon"]))) * other
    assert abs(Fraction(part["spent"]["delta"]) - max(excess, Fraction(0))) <= CLOSE


def _check_batch(part: Mapping[str, Any], constants: Mapping[str, Fraction], cells: int) -> None:
    """In floats: the mean over balls in two of the cells, with m in place of M where M is below m.

    The event M < m costs a thousandth of δ.
    """
    own, other = (float(p) for p in _named_one(constants, cells))
    n, growth = int(constants["honest"]), math.exp(float(Fraction(part["promised"]["epsilon"])))
    spare = float(Fraction(part["promised"]["delta"])) / 1000
    uniform, r = cells * other, own / other - 1
    mean = (n - 1) * uniform
    m = math.floor(mean) - math.isqrt(math.ceil(-2 * mean * math.log(spare))) + 1
    balls, first = np.arange(n + 1)[:, None], np.arange(n + 1)
    law = binom.pmf(balls, n, 2 * other) * binom.pmf(first, balls, 0.5)
    gain = r * (first - growth * (balls - first)) - (growth - 1) * np.maximum(balls, max(m, 0))
    missed = (1 - uniform) * spare if m > 0 else 0.0
    needed = float((law * np.maximum(gain, 0)).sum()) / n + missed
    assert abs(float(part["spent"]["delta"]) - needed) < 1e-6 * needed
    assert not part["is_tight"]


def _ln(x: Fraction) -> Decimal:
    return (Decimal(x.numerator) / Decimal(x.denominator)).ln()
