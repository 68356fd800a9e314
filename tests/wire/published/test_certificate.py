"""The certificate: right by a second implementation, complete, and not to be tampered with."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from second_certifier import check

from blender_dp.core.blender import curate
from blender_dp.core.certificate.certify import certify, certify_curated
from blender_dp.core.channels.local_alg import LocalAlgMechanism
from blender_dp.core.channels.relayed import RelayMechanism, RelayRules
from blender_dp.core.channels.subset_selection import SubsetSelectionMechanism
from blender_dp.core.curator.budget import Branch
from blender_dp.core.errors import HeadListMismatchError, InputError, ParameterError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.head_list import HeadList, Record
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.evaluation.trials.coded_log import CodedLog
from blender_dp.evaluation.trials.coded_population import CodedUsers
from blender_dp.wire.documents.document import digest_of, with_digest, write_document
from blender_dp.wire.published.certificate import (
    PublishedCertificate,
    attached_certificate,
    certificate_document,
    read_certificate,
)

URLS = [3, 1, 1]
PROMISES = [(0.5, 1e-3), (1.0, 1e-5), (4.0, 1e-5), (6.0, 1e-7)]


def listed(parameters: Parameters, urls: list[int]) -> HeadList:
    records = [Record(f"q{i}", f"u{j:04d}") for i, n in enumerate(urls) for j in range(n)]
    mechanism: LocalAlgMechanism | SubsetSelectionMechanism = LocalAlgMechanism.of(parameters)
    if parameters.preset == "sharp":
        mechanism = SubsetSelectionMechanism(epsilon=parameters.epsilon, query_share=0.25)
    return HeadList.of(records, mechanism=mechanism, private=True)


def certified(
    parameters: Parameters, branch: Branch | None = None, urls: list[int] = URLS
) -> dict[str, Any]:
    return certificate_document(certify(listed(parameters, urls), parameters, branch))


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_a_second_implementation_finds_the_same_for_paper(epsilon: float, delta: float) -> None:
    document = certified(Parameters(preset="paper", epsilon=epsilon, delta=delta))
    assert document["verdict"] == "kept"
    check(document, URLS)


def test_a_second_implementation_finds_the_same_for_many_records_of_paper() -> None:
    parameters = Parameters(
        preset="paper", epsilon=2.0, delta=1e-4, records_per_optin_user=3, records_per_client=2
    )
    check(certified(parameters), URLS)


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-4), *PROMISES[2:]])
def test_a_second_implementation_finds_the_same_for_sharp(
    epsilon: float, delta: float, branch: Branch
) -> None:
    document = certified(Parameters(epsilon=epsilon, delta=delta), branch)
    assert document["verdict"] == "kept"
    check(document, URLS)


def test_a_second_implementation_finds_the_same_where_one_record_is_declared() -> None:
    check(certified(Parameters(epsilon=2.0, delta=1e-4, one_record_each=True), "laplace"), URLS)


@pytest.mark.parametrize("declared", [False, True])
def test_a_second_implementation_finds_the_same_where_the_list_is_chosen(declared: bool) -> None:
    parameters = Parameters(epsilon=2.0, delta=1e-4, list_of="auto", one_record_each=declared)
    document = certified(parameters, "laplace")
    parts = document["accounts"][0]["parts"]
    assert parts[0]["release"] == "choice of the list"
    check(document, URLS)
    parts[0]["constants"]["noise_scale"] = "1"
    with pytest.raises(AssertionError):
        check(document, URLS)


SHAPES: list[dict[str, Any]] = [
    {"list_of": "queries"},
    {"list_of": "auto"},
    {"estimation_share": 0.05},
    {"estimation_share": 0.3, "list_of": "auto"},
]


@pytest.mark.parametrize("changes", SHAPES)
@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_a_second_implementation_finds_the_same_for_every_plan_and_refuses_a_lower_threshold(
    branch: Branch, changes: dict[str, Any]
) -> None:
    document = certified(Parameters(epsilon=4.0, delta=1e-5, **changes), branch)
    assert document["verdict"] == "kept"
    check(document, URLS)
    name = {"laplace": "least_released", "gauss": "threshold"}[branch]
    discovery = next(p for p in document["accounts"][0]["parts"] if name in p["constants"])
    least = int(discovery["constants"][name])
    discovery["constants"][name] = str(min(least - 1, least * 99 // 100))
    with pytest.raises(AssertionError):
        check(document, URLS)


@pytest.mark.parametrize("branch", ["laplace", "gauss"])
def test_a_known_list_changes_nothing_in_the_certificate_of_the_opt_in_users(
    branch: Branch, seed: int
) -> None:
    """Each of two thousand users has one record, or the same thirty."""
    records = {"laplace": 1, "gauss": 30}[branch]
    user = np.repeat(np.arange(2_000), records)
    query = np.tile(np.arange(records), 2_000)
    log = CodedLog.of(user, query, np.zeros_like(query))
    known = KnownList.of([log.name(0)])
    parameters = Parameters(epsilon=4.0, delta=1e-5)
    curated = curate(
        CodedUsers.drawn_from(log, seed),
        parameters,
        Randomness.seeded(seed),
        clients=9,
        known=known,
    )
    assert curated.branch == branch
    assert curated.opt_in.tally is not None
    assert curated.opt_in.tally.known is not None
    document = certificate_document(certify_curated(curated))
    plain = certified(parameters, branch)
    assert document["accounts"][0] == plain["accounts"][0]


def test_a_second_implementation_finds_the_same_for_relay_clients() -> None:
    parameters = Parameters(epsilon=1.0, delta=1e-4)
    made = listed(parameters, URLS)
    relay = RelayMechanism.of(made.cells, parameters, clients=1_500, rules=RelayRules())
    assert relay.report_epsilon > 1
    made = replace(made, relay=relay)
    document = certificate_document(certify(made, parameters, "gauss"))
    assert [account["verdict"] for account in document["accounts"]] == ["kept"] * 4
    check(document, URLS)
    batch = document["accounts"][2]["parts"][0]
    batch["constants"]["honest"] = str(int(batch["constants"]["honest"]) * 99 // 100)
    with pytest.raises(AssertionError):
        check(document, URLS)


def broken() -> dict[str, Any]:
    """Return the certificate of a list whose devices spend more than was promised."""
    promised = Parameters(epsilon=3.9, delta=1e-5)
    made = listed(replace(promised, epsilon=4.0), URLS)
    return certificate_document(certify(made, promised, "laplace"))


def test_a_list_above_its_promise_is_certified_as_broken() -> None:
    document = broken()
    assert document["verdict"] == "broken"
    assert [account["verdict"] for account in document["accounts"]] == ["kept", "broken"]
    assert document["sentence"] == (
        "The promise to clients is broken: it was ε = 3.9 and δ = 0, but with this δ the release "
        "needs ε = 4."
    )
    check(document, URLS)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda part: part["spent"].update(delta="0"),
        lambda part: part["constants"].update(least_released="4"),
        lambda part: part["constants"].update(right_slope="1"),
    ],
)
def test_the_second_implementation_finds_a_wrong_number(
    wrong: Callable[[dict[str, Any]], None],
) -> None:
    """The twin of the tests above."""
    document = certified(Parameters(epsilon=2.0, delta=1e-4), "laplace")
    wrong(document["accounts"][0]["parts"][1])
    with pytest.raises(AssertionError):
        check(document, URLS)


def test_a_head_list_alone_certifies_the_clients() -> None:
    made = listed(Parameters(preset="paper", epsilon=4.0, delta=1e-5), URLS)
    document = certificate_document(certify(made, None, None))
    assert [account["to"] for account in document["accounts"]] == ["clients"]
    assert (document["parameters"], document["branch"]) == (None, None)


def test_an_unknown_branch_is_certified_both_ways() -> None:
    accounts = certified(Parameters(epsilon=4.0, delta=1e-5))["accounts"]
    assert len(accounts) == 3
    declared = certified(Parameters(epsilon=4.0, delta=1e-5, one_record_each=True))["accounts"]
    assert len(declared) == 2


def test_an_empty_list_spends_nothing_of_the_clients() -> None:
    for parameters in (
        Parameters(preset="paper", epsilon=4.0, delta=1e-5),
        Parameters(preset="sharp", epsilon=4.0, delta=1e-5),
    ):
        clients = certified(parameters, None, [])["accounts"][-1]
        assert clients["tight_epsilon"] == "0"


def test_parameters_of_another_preset_are_refused() -> None:
    paper = Parameters(preset="paper", epsilon=4.0, delta=1e-5)
    with pytest.raises(ParameterError, match="mechanism is local-alg"):
        certificate_document(
            certify(listed(paper, URLS), Parameters(epsilon=4.0, delta=1e-5), None)
        )


def test_numbers_are_written_exactly_or_on_the_safe_side() -> None:
    document = certified(Parameters(epsilon=0.1, delta=1e-5), "laplace")
    clients = document["accounts"][-1]
    assert clients["promised"] == {"epsilon": "1/10", "delta": "0"}
    assert Fraction(clients["tight_epsilon"]) <= Fraction(1, 10)
    assert document["digest"] == digest_of(document)
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("preset", ["paper", "sharp"])
def test_three_thousand_cells_are_certified(preset: str) -> None:
    """Every query has another number of URLs, the most work there can be."""
    parameters = Parameters(preset=preset, epsilon=4.0, delta=1e-5)  # type: ignore[arg-type]
    made = listed(parameters, list(range(1, 76)))
    assert made.cells.cell_count == 2926
    assert certificate_document(certify(made, parameters, None))["verdict"] == "kept"


# Files


@pytest.fixture
def made() -> HeadList:
    return listed(Parameters(epsilon=4.0, delta=1e-5), URLS)


@pytest.fixture
def path(made: HeadList, tmp_path: Path) -> Path:
    document = certificate_document(certify(made, Parameters(epsilon=4.0, delta=1e-5), "gauss"))
    write_document(tmp_path / "certificate.json", document)
    return tmp_path / "certificate.json"


def computed_again(found: PublishedCertificate, head_list: HeadList) -> dict[str, Any]:
    """Return a certificate of the list after it was computed again from what it names."""
    found.require(certify(head_list, found.parameters, found.branch))
    return found.document


def test_a_certificate_is_computed_again_when_it_is_read(made: HeadList, path: Path) -> None:
    assert computed_again(read_certificate(path, made), made) == json.loads(path.read_text())


def test_an_edited_certificate_is_refused(made: HeadList, path: Path) -> None:
    path.write_text(path.read_text().replace('"gauss"', '"laplace"'))
    with pytest.raises(InputError, match="digest"):
        read_certificate(path, made)


TAMPERING: list[Callable[[dict[str, Any]], object]] = [
    lambda document: document["accounts"][0]["spent"].update(delta="0"),
    lambda document: document["accounts"][1].update(tight_epsilon="1"),
    lambda document: document.update(verdict="broken"),
    lambda document: document.update(branch="laplace"),
    lambda document: document["accounts"].pop(0),
    lambda document: document["parameters"].update(delta="1e-06"),
    lambda document: document["accounts"][0]["parts"][1]["constants"].update(threshold="1"),
]


@pytest.mark.parametrize("tamper", TAMPERING)
def test_a_certificate_that_was_sealed_anew_is_refused_too(
    made: HeadList, path: Path, tamper: Callable[[dict[str, Any]], object]
) -> None:
    document = json.loads(path.read_text())
    tamper(document)
    write_document(path, with_digest(document))
    with pytest.raises(InputError, match="is not what the head list and the parameters"):
        computed_again(read_certificate(path, made), made)


@pytest.mark.parametrize("branch", ["Gauss", 3, {}])
def test_a_branch_that_does_not_exist_is_refused(made: HeadList, path: Path, branch: Any) -> None:
    document = json.loads(path.read_text())
    document["branch"] = branch
    write_document(path, with_digest(document))
    with pytest.raises(InputError, match="branch"):
        read_certificate(path, made)


def test_the_certificate_of_another_list_is_refused(path: Path) -> None:
    other = listed(Parameters(epsilon=4.0, delta=1e-5), [2, 1])
    with pytest.raises(HeadListMismatchError, match="another head list"):
        read_certificate(path, other)


def test_a_certificate_within_a_release_is_computed_again(made: HeadList, path: Path) -> None:
    release = path.with_name("release.json")
    write_document(release, {"format": "x", "certificate": json.loads(path.read_text())})
    assert computed_again(attached_certificate(release, made), made)["verdict"] == "kept"
    write_document(release, {"format": "x"})
    with pytest.raises(InputError, match="certificate"):
        attached_certificate(release, made)


@pytest.mark.parametrize(
    ("parameters", "release"),
    [
        (Parameters(preset="paper", epsilon=2.0, delta=1e-4), "sums"),
        (Parameters(epsilon=2.0, delta=1e-4), "choice of the branch"),
        (Parameters(epsilon=2.0, delta=1e-4), "sums"),
        (Parameters(epsilon=2.0, delta=1e-4), "scalars"),
    ],
)
def test_a_sensitivity_of_half_is_not_believed(parameters: Parameters, release: str) -> None:
    """Every number follows from it and fits: only who knows what a user can move sees it."""
    document = certified(parameters, None if parameters.preset == "paper" else "laplace")
    parts = [part for account in document["accounts"] for part in account["parts"]]
    [part] = [part for part in parts if part["release"] == release]
    part["constants"]["sensitivity"] = str(Fraction(part["constants"]["sensitivity"]) / 2)
    part["tight_epsilon"] = str(Fraction(part["tight_epsilon"]) / 2)
    with pytest.raises(AssertionError):
        check(document, URLS)


@pytest.mark.parametrize(
    ("parameters", "branch"),
    [
        (Parameters(epsilon=2.0, delta=1e-4, preset="paper"), None),
        (Parameters(epsilon=2.0, delta=1e-4), "laplace"),
        (Parameters(epsilon=2.0, delta=1e-4), "gauss"),
    ],
)
def test_a_smaller_loss_of_an_added_user_is_not_believed(
    parameters: Parameters, branch: Branch | None
) -> None:
    """One part in a hundred less, of any part: the second implementation sees it."""
    parts = sum(len(account["parts"]) for account in certified(parameters, branch)["accounts"])
    for number in range(parts):
        document = certified(parameters, branch)
        part = [part for account in document["accounts"] for part in account["parts"]][number]
        part["add_remove_epsilon"] = str(Fraction(part["add_remove_epsilon"]) * 99 / 100)
        with pytest.raises(AssertionError):
            check(document, URLS)


def test_added_or_removed_users_lose_less_than_exchanged_ones() -> None:
    opt_in, clients = certified(Parameters(epsilon=4.0, delta=1e-5), "gauss")["accounts"]
    assert 2.7 < float(opt_in["add_remove_epsilon"]) < 2.73
    assert clients["add_remove_epsilon"] == clients["tight_epsilon"]
