"""Readable, distinct strings for ids, made for whole columns at a time.

A query past ``HEAD_QUERIES`` reads as three words, "golden maple bakery", and from the second
million on as three words and a number, "golden maple bakery 2": a mixed-radix numeral of its
rank, so that distinct ranks read differently. No address leads anywhere: ``.example`` is
reserved for documentation (RFC 2606).
"""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blender_dp.engine.synthetic.shapes import MAX_QUERIES, URL_SHARES

# ruff: noqa: ANN401 - pyarrow publishes no types

RESULTS_PER_QUERY = 10
"""Number of URL ids per query; one of them is shown but never clicked."""

HEAD_QUERIES = (
    # Avent et al., JPC 9(2) 2019, top-10 table; the tenth is invented.
    *("google", "yahoo", "google.com", "myspace.com", "mapquest", "yahoo.com", "www.google.com"),
    *("myspace", "ebay", "www.yahoo.com"),
    # Invented in the style of the time, to the length of the paper's head list.
    *("weather", "dictionary", "ebay.com", "msn", "map directions", "hotmail", "bank of america"),
    *("www.myspace.com", "white pages", "white pages.com", "horoscopes", "american idol", "aol"),
    *("craigslist", "ask.com", "southwest airlines", "walmart", "home depot", "hotmail.com"),
    *("yellow pages", "song lyrics", "free music", "movie times", "lottery results", "recipes"),
    *("target", "local news", "zip codes", "used cars", "real estate", "baby names", "games"),
    *("cheap flights", "job search", "tax forms", "jokes", "love quotes", "tattoos", "maps"),
    *("gas prices",),
)
"""Texts of the most popular queries, most popular first."""

# A hundred words each.
_ADJECTIVES = """
able amber ancient autumn best big black blue bold brave bright broad brown calm cheap clean
clear clever cold cool copper cosy crisp daily dark deep dry early east easy empty exotic fair
famous fancy fast fine first flat free fresh full gentle giant glass gold golden good grand gray
great green happy heavy hidden high holy home honest hot huge humble icy indoor ivory jolly kind
large late lazy light little local long lost loud low lucky magic mellow mild modern narrow neat
new noble north odd old olive open orange outdoor pale perfect plain polite pretty proud quiet
"""
_TREES_AND_THINGS = """
acorn alder apple apricot arrow aspen bamboo banjo barn basil basket beach bean bear beech berry
birch bird bison boat bottle brick bridge bronze butter button cabin cactus camel candle canoe
canyon carrot castle cedar cello cherry chess chestnut cider citrus clay cliff clock clover
coast cobalt coffee comet coral corn cotton cradle crane creek crystal cypress daisy deer desert
dolphin dove dragon drum eagle elm ember falcon feather fern fiddle fig finch flint flute forest
fox ginger granite grape harbor hazel heron hickory honey horse island ivy jade juniper kite
lake lantern laurel lemon lily lotus lynx maple marble
"""
_PLACES_AND_TRADES = """
academy airport albums antiques apartments auction bakery bank barber books boots builders cafe
cameras camp carpets cars catalog center chairs church cinema circus clinic clothing club coins
college company concert cooking costumes cottage county coupons courses crafts dealer dentist
design diet diner dolls doors drawings engine farm fashion festival fishing fitness florist
flowers forum furniture gallery games garage garden gifts golf grill guide guitars hall hats
health hiking history homes hospital hotel hunting insurance jewelry jobs kennel kitchen lamps
lessons library loans lodge lyrics magazine market menu motors museum music news nursery
paintings parade park photos pizza poems printers quilts
"""

ADJECTIVES = tuple(_ADJECTIVES.split())
TREES_AND_THINGS = tuple(_TREES_AND_THINGS.split())
PLACES_AND_TRADES = tuple(_PLACES_AND_TRADES.split())

_HEADS = len(HEAD_QUERIES)
_URLS = len(URL_SHARES)
_PAIRS = len(TREES_AND_THINGS) * len(PLACES_AND_TRADES)
_TRIPLES = len(ADJECTIVES) * _PAIRS
# Coprime to the number of triples, and near its golden section: neighbours in rank share no word.
_TRIPLE_STEP = 618_033
_HEAD_PATHS = ("", "/help", "/news", "/about", "/search", "/account", "/mobile", "/shop", "/jobs")

# Odd, so that multiplying by them is one-to-one modulo a power of two.
_QUERY_FACTOR = 39_088_169
_RESULT_FACTOR = 433_494_437
# Large enough for every result of every query; plus the 10^9 of _scatter it is below 2^31.
_RESULT_MODULUS = 2**30


def digits(ids: NDArray[np.integer[Any]]) -> Any:
    """Return ids as decimal numerals."""
    return pc.cast(pa.array(ids), pa.string())


def query_words(query: NDArray[np.int64]) -> Any:
    """Return the texts of queries, distinct for distinct ids."""
    first, second, third = _numeral(query)
    return _join(_query_tables(), (first, second, third))


def url_addresses(query: NDArray[np.int64], url: NDArray[np.int64]) -> Any:
    """Return the texts of URLs, distinct for distinct ids of one query.

    Famous queries may share an address, as "yahoo" and "yahoo.com" do. The tables have nine URLs
    of a query; further ones are pages of these.
    """
    first, second, third = _numeral(query)
    addresses = _join(_address_tables(), (first, second, third * _URLS + url % _URLS))
    page = url // _URLS
    if not page.any():
        return addresses
    further = pc.binary_join_element_wise(addresses, "?page=", digits(page + 1), "")
    return pc.if_else(pa.array(page > 0), further, addresses)


def query_numbers(query: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return query ids that do not reveal the rank, as in an anonymized log."""
    return query * _QUERY_FACTOR % MAX_QUERIES


def url_numbers(query: NDArray[np.int64], url: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return URL ids that are distinct over all queries, of ten digits each."""
    return _scatter(query * RESULTS_PER_QUERY + url)


def domain_numbers(query: NDArray[np.int64], url: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ids of the domains of URLs, of ten digits; neighbouring results share one."""
    return _scatter((query * RESULTS_PER_QUERY + url) // 3)


def _scatter(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    return 10**9 + ids * _RESULT_FACTOR % _RESULT_MODULUS


def _numeral(
    query: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return three digits that identify a query: positions in the tables of words.

    The first table begins with the whole famous queries, then has adjectives. The other two begin
    with an entry that adds nothing, for the famous queries.
    """
    block, rank = np.divmod(query - _HEADS, _TRIPLES)
    adjective, pair = np.divmod(rank * _TRIPLE_STEP % _TRIPLES, _PAIRS)
    is_head = query < _HEADS
    return (
        np.where(is_head, query, adjective + _HEADS),
        np.where(is_head, 0, pair + 1),
        np.where(is_head, 0, block + 1),
    )


def _join(tables: tuple[Any, Any, Any], numeral: tuple[NDArray[np.int64], ...]) -> Any:
    """Look every digit up in its table and put the strings together."""
    strings = [table.take(pa.array(digit)) for table, digit in zip(tables, numeral, strict=True)]
    return pc.binary_join_element_wise(*strings, "")


@cache
def _query_tables() -> tuple[Any, Any, Any]:
    return (
        pa.array([*HEAD_QUERIES, *(f"{adjective} " for adjective in ADJECTIVES)]),
        pa.array(["", *_pairs(" ")]),
        pa.array(["", *_numbers(" ")]),
    )


@cache
def _address_tables() -> tuple[Any, Any, Any]:
    sites = [
        name.removeprefix("www.").removesuffix(".com").replace(" ", "-") for name in HEAD_QUERIES
    ]
    starts = [f"https://www.{site}.example" for site in sites]
    starts += [f"www.{adjective}-" for adjective in ADJECTIVES]
    pages = [f"{number}.example/{url + 1}" for number in _numbers("-") for url in range(_URLS)]
    return pa.array(starts), pa.array(["", *_pairs("-")]), pa.array([*_HEAD_PATHS, *pages])


def _pairs(separator: str) -> list[str]:
    return [
        f"{thing}{separator}{place}" for thing in TREES_AND_THINGS for place in PLACES_AND_TRADES
    ]


def _numbers(separator: str) -> list[str]:
    return ["", *(f"{separator}{block + 1}" for block in range(1, MAX_QUERIES // _TRIPLES + 1))]
