"""The how-tos run as far as they can on one machine; what does not is listed with its reason."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from documented_pages import ROOT, blocks_of, run_page
from running_service import running_service

HOW_TOS = ROOT / "docs" / "how-to"
RUN = (
    *("analyse-with-python", "back-up-the-service", "check-the-promise", "local-search"),
    *("plan-a-collection", "run-one-side", "swap-a-step", "trends", "use-your-own-log"),
)
"""Pages whose blocks run here, but for those in ``LEFT_OUT``."""

LEFT_OUT = {
    "check-the-promise": {
        "blender-dp audit": "takes a minute; tests/cli/test_audit.py",
        "blender-dp certify curator/head_list.json --epsilon": "status 1: the promise is broken",
    },
    "plan-a-collection": {
        "blender-dp plan --users 519371 --epsilon": "curves and goals take half a minute; "
        "tests/cli/test_plan.py",
    },
    "back-up-the-service": {
        "pg_dump": "a server of the reader's; tests/service/test_backups.py",
        "psql": "a server of the reader's; tests/service/test_backups.py",
    },
}
"""Blocks that do not run here, by their first words."""

NOT_RUN = {
    "compare-with-peers": "in an environment of its own: make peers",
    "install-the-extension": "in a browser: tests/extension",
    "measure-accuracy": "takes a minute; tests/cli/test_evaluate.py",
    "operate-the-service": "as root, on a server: tests/repository/test_deployment.py",
    "past-one-machine": "on a cluster: tests/engine/spark",
    "publish-the-extension": "by a publisher",
    "report-from-python": "with a campaign of the reader's: tests/client",
    "require-tokens": "with the login of the reader's: tests/issuer",
    "reproduce-the-paper": "takes minutes; tests/cli/test_reproduce.py",
    "run-a-collection": "with tokens and ids of the reader's: tests/end_to_end/test_campaign.py",
    "run-a-relay": "with a collector of somebody else's: tests/end_to_end/test_relay_campaign.py",
    "upgrade": "with the files of a release: tests/release/test_make_dist.py",
}
"""Pages of which no block runs here."""


RESULTS = {
    "check-the-promise": ("result", "curator"),
    "local-search": ("result",),
    "trends": ("result", "last-month"),
}
"""Results of earlier commands that a page assumes."""


@pytest.mark.slow
def test_the_how_tos_run_from_top_to_bottom(tmp_path: Path) -> None:
    """One test, since the pages share what they assume to be there."""
    logs, results = tmp_path / "logs", tmp_path / "results"
    make_logs(logs)
    make_results(logs, results)
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    for page in RUN:
        folder = shutil.copytree(logs, tmp_path / page)
        for name in RESULTS.get(page, ()):
            shutil.copytree(results / name, folder / name)
        run_page(HOW_TOS / f"{page}.md", folder, LEFT_OUT.get(page, {}), PATH=path)


def make_logs(folder: Path) -> None:
    """Make logs with the names and columns that pages have, and the data of a service."""
    folder.mkdir()
    blender_dp(folder, "synth", "--users", "20000", "-o", "log.parquet")
    with duckdb.connect() as database:
        database.sql(f"CREATE VIEW log AS FROM '{folder}/log.parquet'")
        named = "FROM log SELECT user AS account, query AS search, url AS clicked"
        database.sql(f"COPY ({named}) TO '{folder}/searches.csv'")
        for name, part in (("optin", "<"), ("clients", ">=")):
            rows = f"FROM log WHERE user::BIGINT {part} 4000"
            database.sql(f"COPY ({rows}) TO '{folder}/{name}.csv'")
    (folder / "service").mkdir()
    with running_service(folder / "service"):
        pass
    (folder / "service" / "data").rename(folder / "blender-dp-data")


def make_results(logs: Path, folder: Path) -> None:
    """Make the results that pages name."""
    folder.mkdir()
    promise = ("--epsilon", "4", "--delta", "1e-6")
    for name in ("result", "last-month"):
        blender_dp(logs, "run", "log.parquet", *promise, "--opt-in", "0.2", "-o", folder / name)
    blender_dp(logs, "head-list", "optin.csv", *promise, "-o", folder / "curator")


def blender_dp(folder: Path, *words: object) -> None:
    subprocess.run(
        [sys.executable, "-m", "blender_dp.cli", *map(str, words)], cwd=folder, check=True
    )


def test_every_page_with_blocks_is_listed_here() -> None:
    pages = {page.stem: page.read_text(encoding="utf-8") for page in HOW_TOS.glob("*.md")}
    assert {*RUN, *NOT_RUN} == {name for name, text in pages.items() if list(blocks_of(text))}
    assert {*LEFT_OUT, *RESULTS} <= {*RUN}
    assert not {*RUN} & {*NOT_RUN}
