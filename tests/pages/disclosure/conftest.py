"""Small results with secure noise: a seeded one has no record and no label."""

import pytest

import blender_dp as bdp

PARAMETERS = bdp.Parameters(epsilon=3, delta=1e-3)
ANSWERED = bdp.Deployment(
    name="Popular searches",
    curator="Library of Example & Sons",
    curator_type="Nonprofit",
    intended_use="To order the shelves.",
    region="Everywhere",
    sector="Education",
    preprocessing="None.",
    security="Two librarians have the key.",
    justification="Asked in a public meeting:\n- twice.",
    plans="No more results are planned.",
    authors=["Somebody"],
    source_title="How we count searches",
    source_url="https://library.example/counting",
)


def popular_log() -> dict[str, list[str]]:
    """Return a log of 3,000 users with three popular queries."""
    users = range(3000)
    queries = [("weather", "news", "maps")[user % 3] for user in users]
    return {
        "user": [str(user) for user in users],
        "query": queries,
        "url": [f"{query}.example" for query in queries],
    }


@pytest.fixture(scope="session")
def results() -> dict[str, bdp.RunResult]:
    """Return a result of each preset, and one with relay clients."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    log = pa.table(popular_log())
    paper = bdp.Parameters(epsilon=3, delta=1e-3, preset="paper")
    relay = bdp.RelayRules(share=0.5)
    with pytest.warns(bdp.PromiseWarning, match="δ"):
        return {
            "sharp": bdp.run(log, PARAMETERS, opt_in=0.3),
            "paper": bdp.run(log, paper, opt_in=0.3),
            "relay": bdp.run(log, PARAMETERS, opt_in=0.3, relay=relay),
        }
