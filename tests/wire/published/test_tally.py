"""What ``sharp`` releases of the opt-in users travels unchanged, or is refused."""

from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wire.lists import write_json

from blender_dp.core.blend_probabilities.sharp import combine
from blender_dp.core.blender import curate
from blender_dp.core.certificate.certify import certify_curated
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.create_head_list.known_records import still_listed
from blender_dp.core.curator.budget import MOST_RECORDS, Branch, Budget
from blender_dp.core.curator.discovery import branch_of
from blender_dp.core.curator.opt_in_tally import OptInTally
from blender_dp.core.curator.plans import count_plan, weight_plan
from blender_dp.core.curator.published_side import PublishedSide
from blender_dp.core.curator.value_law import value_law
from blender_dp.core.errors import InputError
from blender_dp.core.estimation.opt_in_views import OptInViews
from blender_dp.core.exact.lattice import UNIT
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.head_list.known_list import KnownFrom, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.in_memory import LogRow, MemoryPopulation
from blender_dp.wire.documents.document import with_digest
from blender_dp.wire.published.estimates import opt_in_document, read_opt_in
from blender_dp.wire.published.released_discovery import discovery_document

PARAMETERS = Parameters(epsilon=6.0, delta=1e-2, head_list_size=2)
ROWS = [LogRow(f"u{i}", f"q{i % 4}", f"{i % 3}.example") for i in range(900)]
POPULATION = MemoryPopulation.of(ROWS, Randomness.seeded(1), opt_in=0.5)
CURATED = curate(POPULATION.opt_in, PARAMETERS, Randomness.seeded(2), clients=450)
DOCUMENT = opt_in_document(CURATED)


def tally_of(curated: Any) -> Any:
    assert curated.opt_in.tally is not None
    return curated.opt_in.tally


def test_the_integers_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = read_opt_in(write_json(tmp_path / "o.json", DOCUMENT), CURATED.head_list).estimate()
    assert found.parameters == PARAMETERS
    read, written = tally_of(found), tally_of(CURATED)
    for name in ("users", "choice", "folded_cells", "record_squares", "query_squares"):
        assert getattr(read, name) == getattr(written, name)
    assert read.values.tolist() == written.values.tolist()
    assert read.sums.tolist() == written.sums.tolist()
    assert written.whole_list is not None  # the list was trimmed
    assert read.whole_list == written.whole_list
    assert np.array_equal(found.opt_in.cells.variance, CURATED.opt_in.cells.variance)


@pytest.mark.parametrize("source", [KnownFrom.RELEASE, KnownFrom.ELSEWHERE])
def test_which_records_were_known_is_read_as_it_was_written(
    tmp_path: Path, source: KnownFrom
) -> None:
    """The same estimates come from the document: they depend on where a record was known from."""
    names = [Record("q1", "1.example"), Record("q9", "9.example")]
    known = KnownList.of(names, half_listed=1.0 if source is KnownFrom.RELEASE else None)
    parameters = replace(PARAMETERS, head_list_size=None)
    curated = curate(POPULATION.opt_in, parameters, Randomness.seeded(2), clients=450, known=known)
    document = opt_in_document(curated)
    found = read_opt_in(write_json(tmp_path / "o.json", document), curated.head_list).estimate()
    read, written = tally_of(found), tally_of(curated)
    assert set(written.known.tolist()) == {KnownFrom.NOWHERE, source}
    assert read.known.tolist() == written.known.tolist()
    assert np.array_equal(found.opt_in.cells.variance, curated.opt_in.cells.variance)
    assert "known" not in DOCUMENT["tally"]
    for one in (curated, found):
        facts = discovery_document(one)
        assert facts is not None
        assert facts["known_elsewhere"] is (source is KnownFrom.ELSEWHERE)
    for wrong in (None, [], [3] * len(written.known), [0.5] * len(written.known)):
        changed = {**document, "tally": {**document["tally"], "known": wrong}}
        with pytest.raises(InputError, match="known"):
            read_opt_in(
                write_json(tmp_path / "wrong.json", with_digest(changed)), curated.head_list
            )


def test_the_share_that_follows_from_relay_clients_is_read_as_it_was_written(
    tmp_path: Path,
) -> None:
    """Relay clients are three to every opt-in user: sums get a twentieth, and documents say so."""
    users = POPULATION.opt_in
    curated = curate(
        users, PARAMETERS, Randomness.seeded(2), clients=450, relay_clients=3 * users.size
    )
    assert curated.parameters == replace(PARAMETERS, estimation_share=0.05)
    document = opt_in_document(curated)
    assert document["parameters"]["estimation_share"] == "0.05"
    found = read_opt_in(write_json(tmp_path / "o.json", document), curated.head_list).estimate()
    assert found.parameters == curated.parameters
    assert np.array_equal(found.opt_in.cells.variance, curated.opt_in.cells.variance)
    assert certify_curated(found).is_kept
    del document["parameters"]["estimation_share"]
    other = read_opt_in(write_json(tmp_path / "p.json", with_digest(document)), curated.head_list)
    assert not np.array_equal(other.estimate().opt_in.cells.variance, found.opt_in.cells.variance)


@pytest.mark.parametrize("list_of", ["queries", "auto"])
def test_a_list_of_queries_is_read_as_it_was_written(tmp_path: Path, list_of: Any) -> None:
    parameters = replace(PARAMETERS, epsilon=40.0, list_of=list_of)
    curated = curate(POPULATION.opt_in, parameters, Randomness.seeded(2), clients=450)
    document = opt_in_document(curated)
    found = read_opt_in(write_json(tmp_path / "o.json", document), curated.head_list).estimate()
    read, written = tally_of(found), tally_of(curated)
    assert read.values.tolist() == written.values.tolist()
    assert read.coverage_gap == written.coverage_gap
    assert (written.coverage_gap is None) == (list_of == "queries")
    assert found.parameters.list_of == list_of
    assert np.array_equal(found.opt_in.cells.variance, curated.opt_in.cells.variance)
    other = {"coverage_gap": -(10**9)} if list_of == "auto" else {"coverage_gap": 1}
    changed = with_digest({**document, "tally": {**document["tally"], **other}})
    with pytest.raises(InputError, match=r"coverage_gap|values"):
        read_opt_in(write_json(tmp_path / "wrong.json", changed), curated.head_list)


def test_documents_without_a_branch_have_the_former_rule(tmp_path: Path) -> None:
    """A campaign whose list was made by an earlier version keeps the branch that it was made by."""
    budget, written = Budget.of(PARAMETERS), tally_of(CURATED)
    choice = branch_of(0, written.users, budget)
    average = choice.gauss_threshold / choice.laplace_threshold / 0.85
    weight_sum = round(average * UNIT * written.users / sqrt(MOST_RECORDS))

    def read_with(**fields: Any) -> Any:
        tally = {name: of for name, of in DOCUMENT["tally"].items() if name != "branch"}
        tally |= {"values": [1_000 * UNIT] * len(tally["values"])}  # enough for either branch
        changed = {**DOCUMENT, "tally": tally | {"weight_sum": weight_sum} | fields}
        path = write_json(tmp_path / "o.json", with_digest(changed))
        return read_opt_in(path, CURATED.head_list).integers

    assert read_with().choice.branch == "laplace"
    assert read_with(branch="gauss").choice.branch == "gauss"
    with pytest.raises(InputError, match="branch"):
        read_with(branch="laplace")


FORMER = Parameters(epsilon=1.0, delta=1e-5, one_record_each=True)
FORMER_LIST = HeadList.of(
    [Record(query, "u") for query in ("bread", "coffee", "milk", "tea")],
    mechanism=SubsetSelectionMechanism(epsilon=1.0, query_share=0.0),
    private=True,
)
FORMER_ESTIMATES = [
    0.00332695,
    5.7664e-05,
    0.008486952,
    0.0,
    0.012092186,
    0.000556596,
    0.03844796,
    0.0,
    0.937031693,
]
"""Of ⟨bread,u⟩, ⟨bread,⋆⟩ and so on, by the version that wrote 1 for every known record."""


def test_documents_that_do_not_say_from_where_a_record_was_known_keep_their_estimates(
    tmp_path: Path,
) -> None:
    """They are older: a known record, bread and milk here, had no prior. The others have one."""
    integers = OptInTally(
        users=4000,
        choice=branch_of(None, 4000, Budget.of(FORMER)),
        values=np.array([9, 31, 44, 150]),
        sums=UNIT * np.array([4, 1, 37, -2, 40, 3, 160, 0, 3757]),
        folded_cells=0,
        record_squares=0,
        query_squares=0,
        known=np.array([1, 0, 1, 0]),
    )
    sides = dict.fromkeys(("opt_in_users", "discovery_users", "estimation_users"), 4000)
    side = PublishedSide(
        parameters=FORMER,
        **sides,
        candidate_queries=4,
        candidate_records=4,
        head_list=FORMER_LIST,
        integers=integers,
    )
    document = opt_in_document(side.estimate())
    tally = {name: of for name, of in document["tally"].items() if name != "branch"}
    path = write_json(tmp_path / "o.json", with_digest({**document, "tally": tally}))
    views = read_opt_in(path, FORMER_LIST).estimate().opt_in.evidence
    assert isinstance(views, OptInViews)
    estimates = combine(views, None).cells.projected.tolist()
    assert estimates == pytest.approx(FORMER_ESTIMATES, rel=1e-5, abs=1e-8)
    for wrong in ([2, 0, 1, 0], [3, 0, 1, 0]):
        path = write_json(path, with_digest({**document, "tally": {**tally, "known": wrong}}))
        with pytest.raises(InputError, match="must have 1 for a record that was known before"):
            read_opt_in(path, FORMER_LIST)


GAUSS = replace(PARAMETERS, epsilon=1.0, delta=1e-5, head_list_size=None)
LAPLACE = replace(PARAMETERS, one_record_each=True, head_list_size=None)


@pytest.mark.parametrize(("parameters", "branch"), [(LAPLACE, "laplace"), (GAUSS, "gauss")])
def test_values_with_which_no_record_is_listed_are_refused(
    tmp_path: Path, parameters: Parameters, branch: Branch
) -> None:
    """Unknown records are above the threshold, by one unit at least; known ones are near it."""
    known = KnownList.of([Record("q1", "1.example")])
    rows = [LogRow(f"u{u}", f"q{q}", "1.example") for u in range(300) for q in range(16)]
    users = MemoryPopulation.of(rows, Randomness.seeded(1), opt_in=0.9).opt_in
    curated = curate(users, parameters, Randomness.seeded(2), clients=450, known=known)
    document, tally = opt_in_document(curated), tally_of(curated)
    assert tally.choice.branch == branch
    where_known, unknown = (tally.known.tolist().index(source) for source in (2, 0))
    budget = Budget.of(parameters)
    plan = count_plan(budget) if branch == "laplace" else weight_plan(budget)
    least = plan.threshold + (branch == "gauss")
    law = value_law(branch, budget)
    listed = [v for v in range(-200, 200) if still_listed([(Record("q", ""), v * law.unit)], law)]
    stays = listed[0]
    assert stays < plan.threshold / law.unit

    def read_with(position: int, value: int) -> list[int]:
        values = tally.values.tolist()
        values[position] = value
        changed = with_digest({**document, "tally": {**document["tally"], "values": values}})
        path = write_json(tmp_path / "o.json", changed)
        read: Any = read_opt_in(path, curated.head_list).integers
        return list(read.values.tolist())

    assert read_with(unknown, least)[unknown] == least
    assert read_with(where_known, stays * law.unit)[where_known] == stays * law.unit
    for position, value in (
        (unknown, least - 1),
        (unknown, -100_000),
        (where_known, (stays - 1) * law.unit),
    ):
        with pytest.raises(InputError, match=r"field tally: values must each be large enough"):
            read_with(position, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, value)
            for name in ("values", "sums")
            for value in (None, [], [1], "1", [1.5] * 9)
        ),
        *((name, None) for name in ("folded_cells", "record_squares", "query_squares")),
        ("folded_cells", -1),
        ("record_squares", 1.5),
        ("query_squares", 2**63),
        ("weight_sum", None),
        ("weight_sum", "1"),
        ("branch", None),
        ("branch", "gauss"),
        ("whole_list", {}),
        ("whole_list", {**DOCUMENT["tally"]["whole_list"], "record_concentration": "0.0"}),
        ("whole_list", {**DOCUMENT["tally"]["whole_list"], "query_concentration": "1.5"}),
        ("whole_list", {**DOCUMENT["tally"]["whole_list"], "value_ratio": "0.5"}),
        ("whole_list", {**DOCUMENT["tally"]["whole_list"], "ratio_variance": "-1.0"}),
    ],
)
def test_what_nobody_could_have_released_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    changed = {**DOCUMENT, "tally": {**DOCUMENT["tally"], field: value}}
    changed.pop("digest")
    path = write_json(tmp_path / "o.json", with_digest(changed))
    with pytest.raises(InputError) as refusal:
        read_opt_in(path, CURATED.head_list)
    assert str(refusal.value).startswith(f"{path}, field ")
    assert "q1" not in str(refusal.value)
