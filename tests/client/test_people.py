"""The people of a log: everybody once, opt-in users with all their rows, clients with one."""

from collections import Counter
from pathlib import Path

import pytest
from client.stand_in import head_list

from blender_dp.client.crowd.people import People, cells_of, read_people
from blender_dp.core.errors import BlenderError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import Record
from blender_dp.engine.duckdb.readers import LogColumns
from blender_dp.engine.log import Log, Workspace
from exact_tests import assert_frequencies

USERS = 400
ROWS = 4


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of people with four rows each; the first tenth opt in, says a column."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    rows = [
        f"u{user},query {row},{user}.example/{row},{'opt-in' if user < USERS // 10 else 'client'}"
        for user in range(USERS)
        for row in range(ROWS)
    ]
    path.write_text("user,query,url,group\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def people_of(
    path: Path, *, count: int | None = None, group: str | None = None, relay: float = 0.0
) -> People:
    return read_people(
        Log(paths=[path], columns=LogColumns(group=group)),
        count=count,
        opt_in=0.25,
        relay=relay,
        workspace=Workspace(),
        randomness=Randomness.secure(),
    )


def user_of(record: Record | None) -> str:
    assert record is not None
    return record.url.split(".")[0]


def test_everybody_takes_part_once(log: Path) -> None:
    people = people_of(log)
    assert (len(people.opt_in), len(people.clients)) == (100, 300)
    for records in people.opt_in:
        assert [record.query for record in records] == [f"query {row}" for row in range(ROWS)]
        assert len({user_of(record) for record in records}) == 1
    users = [user_of(records[0]) for records in people.opt_in]
    users += [user_of(record) for record in people.clients]
    assert sorted(users, key=int) == [str(user) for user in range(USERS)]


@pytest.mark.parametrize(("share", "relayed"), [(0.0, 0), (0.4, 120), (1.0, 300)])
def test_a_share_of_the_clients_uses_the_relay(log: Path, share: float, relayed: int) -> None:
    people = people_of(log, relay=share)
    assert (len(people.relayed), len(people.clients)) == (relayed, 300 - relayed)
    everybody = [user_of(record) for record in (*people.relayed, *people.clients)]
    everybody += [user_of(records[0]) for records in people.opt_in]
    assert len(set(everybody)) == USERS


def test_fewer_people_are_drawn_from_all(log: Path) -> None:
    people = people_of(log, count=40)
    assert (len(people.opt_in), len(people.clients)) == (10, 30)


def test_a_column_says_who_opts_in(log: Path) -> None:
    people = people_of(log, group="group")
    assert (len(people.opt_in), len(people.clients)) == (40, 360)
    assert all(int(user_of(records[0])) < 40 for records in people.opt_in)
    fewer = people_of(log, group="group", count=100)
    assert (len(fewer.opt_in), len(fewer.clients)) == (10, 90)
    assert all(int(user_of(record)) >= 40 for record in fewer.clients)


def test_a_client_draws_its_rows_alike(log: Path) -> None:
    drawn: Counter[str] = Counter()
    for _ in range(10):
        drawn.update(record.query for record in people_of(log).clients if record)
    assert_frequencies(drawn, {f"query {row}": 1 / ROWS for row in range(ROWS)})


@pytest.mark.parametrize("count", [0, -1, USERS + 1])
def test_no_more_people_than_the_log_has(log: Path, count: int) -> None:
    with pytest.raises(ParameterError, match="count must be from 1 to the 400 users"):
        people_of(log, count=count)


def test_both_groups_need_people(log: Path) -> None:
    with pytest.raises(BlenderError, match="both groups need users"):
        people_of(log, count=3)


def test_what_no_upload_may_hold_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    long = "u" * 9_000
    rows = [f"{user}\tq\t{long}\n{user}\tq\tu.example" for user in range(20)]
    path.write_text("user\tquery\turl\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert set(map(tuple, people_of(path).opt_in)) == {(Record("q", "u.example"),)}


def test_clients_are_put_into_the_cells_of_a_list() -> None:
    listed = head_list(queries=2)
    clients = [
        *(Record("query 001", "2.example"), Record("query 001", "else.example")),
        *(Record("else", "1.example"), None),
    ]
    cells = listed.cells
    found = cells_of(clients, listed).tolist()
    assert found == [cells.listed[3], cells.star_of_query[1], cells.other, cells.other]
