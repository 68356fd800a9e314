"""The registry record has every field of tier 3, as the registry's schema wants it."""

import re
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs are installed
from hypothesis import given
from hypothesis import strategies as st
from pages.disclosure.conftest import ANSWERED

import blender_dp as bdp
from blender_dp.pages.disclosure.disclosed import Disclosed, at_most
from blender_dp.pages.disclosure.registry_record import registry_record
from blender_dp.pages.disclosure.yaml_text import yaml_text

KINDS = ("sharp", "paper", "relay")
FIELDS: dict[str, type | tuple[object, ...]] = {
    "url_slug": str,
    "deployment.basic.name": str,
    "deployment.basic.data_curators.data_curator_name": str,
    "deployment.basic.data_curators.data_curator_type": ("Government", "Industry", "Nonprofit"),
    "deployment.basic.description": str,
    "deployment.basic.intended_use": str,
    "deployment.basic.data_product_type": ("Summary statistics", "Dataset"),
    "deployment.basic.data_product_region": str,
    "deployment.basic.data_product_sector": (
        *("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    ),
    "deployment.basic.publication_date": str,
    "deployment.dp_variant.variant_name": ("Pure DP", "Approximate DP"),
    "deployment.dp_variant.data_domain": str,
    "deployment.dp_variant.unprotected_quantities": str,
    "deployment.privacy_loss.privacy_unit": str,
    "deployment.privacy_loss.privacy_unit_details": str,
    "deployment.privacy_loss.number_of_privacy_units": int,
    "deployment.privacy_loss.privacy_parameters.epsilon": (3,),
    "deployment.privacy_loss.privacy_parameters.delta": (0.001,),
    "deployment.privacy_loss.privacy_parameters_details": str,
    "deployment.deployment_model.model_name": ("Central", "Varies"),
    "deployment.deployment_model.model_name_details": str,
    "deployment.deployment_model.trust_assumptions": str,
    "deployment.deployment_model.actors": str,
    "deployment.deployment_model.release_type": ("One release", "Many releases"),
    "deployment.deployment_model.release_type_details": str,
    "deployment.deployment_model.data_source_type": ("Static", "Dynamic"),
    "deployment.deployment_model.data_source_type_details": str,
    "deployment.deployment_model.access_type": ("Interactive", "Non-interactive"),
    "deployment.deployment_model.access_type_details": str,
    "deployment.implementation.preprocessing_and_hyperparameter_tuning": str,
    "deployment.implementation.mechanisms": str,
    "deployment.implementation.composition": str,
    "deployment.implementation.post_processing": str,
    "deployment.implementation.justification": str,
    "deployment.implementation.utility": str,
    "deployment.implementation.additional_information": str,
    "deployment.administrative.status": ("Draft",),
    "deployment.administrative.registry_authors": str,
    "deployment.administrative.tier": (3,),
}
"""Fields of the registry's schema at commit 057e5d8: their type, or what they may be. ``rho`` is
left out: no promise here has one."""

RESERVED = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
"""Words that YAML does not read as texts."""


def leaves(node: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Return every value below a node, lists without their numbers."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(value, f"{path}.{name}" if path else name)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, path)
    else:
        yield path, node


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_tier_3_is_answered(results: dict[str, bdp.RunResult], kind: str) -> None:
    text = bdp.certify(results[kind]).registry(ANSWERED)
    assert "TO FILL IN" not in text
    found = dict(leaves(yaml.safe_load(text)))
    sources = {name for name in found if ".evidence_sources." in name}
    assert {*found} - sources == {*FIELDS}
    for name, rule in FIELDS.items():
        value = found[name]
        is_right = isinstance(value, rule) if isinstance(rule, type) else value in rule
        assert is_right, (name, value)
        assert value != "", name
    assert date.fromisoformat(str(found["deployment.basic.publication_date"]))
    assert found["url_slug"] == f"popular-searches-library-of-example-sons-{date.today().year}"  # noqa: DTZ011
    assert found["deployment.privacy_loss.number_of_privacy_units"] == 3000
    assert (
        found["deployment.implementation.justification"] == "Asked in a public meeting:\n- twice.\n"
    )


def test_what_only_the_organisation_knows_is_marked(results: dict[str, bdp.RunResult]) -> None:
    text = bdp.certify(results["sharp"]).registry(bdp.Deployment(name="Searches"))
    assert 'name: "Searches"' in text
    marked = [name for name, value in leaves(yaml.safe_load(text)) if "TO FILL IN" in str(value)]
    assert len(marked) == len(bdp.Deployment(name="Searches").unanswered) == 12
    assert "deployment.basic.name" not in marked


@pytest.mark.parametrize("kind", KINDS)
def test_costs_are_those_of_the_certificate_under_both_definitions(
    results: dict[str, bdp.RunResult], kind: str
) -> None:
    certificate = bdp.certify(results[kind])
    loss = yaml.safe_load(certificate.registry())["deployment"]["privacy_loss"]
    lines = loss["privacy_parameters_details"].splitlines()[1:]
    assert len(lines) == len(certificate.accounts)
    for line, account in zip(lines, certificate.accounts, strict=True):
        assert line.startswith(f"- {account.to}")
        _, exchanged, presence = map(Fraction, re.findall(r"ε = (\d+(?:\.\d+)?)", line))
        assert account.tight_epsilon is not None
        assert account.add_remove_epsilon is not None
        assert 0 <= exchanged - account.tight_epsilon < Fraction(1, 10_000)
        assert 0 <= presence - account.add_remove_epsilon < Fraction(1, 10_000)
    assert "exchanged for any other data" in loss["privacy_unit_details"]
    assert "added or removed" in loss["privacy_unit_details"]


def test_who_saw_raw_records_depends_on_where_reports_came_from(
    results: dict[str, bdp.RunResult],
) -> None:
    certificate = bdp.certify(results["relay"])

    def model_of(*, from_log: bool) -> dict[str, Any]:
        disclosed = Disclosed(
            certificate=certificate,
            created="2026-11-18",
            users=certificate.users,
            from_log=from_log,
        )
        model: dict[str, Any] = registry_record(disclosed, ANSWERED)["deployment"]
        return dict(model["deployment_model"])

    assert model_of(from_log=True)["model_name"] == "Central"
    devices = model_of(from_log=False)
    assert devices["model_name"] == "Varies"
    assert "Clients trust nobody but their own device" in devices["trust_assumptions"]
    assert "Relay: another organisation" in devices["actors"]


def test_no_record_of_a_list_alone_or_of_an_experiment(results: dict[str, bdp.RunResult]) -> None:
    with pytest.raises(bdp.BlenderError, match="about a published result"):
        bdp.certify(results["sharp"].head_list).registry()
    with pytest.raises(bdp.BlenderError, match="a Deployment; got 'str'"):
        bdp.certify(results["sharp"]).registry("Searches")  # type: ignore[arg-type]


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True).filter(lambda name: name not in RESERVED),
        st.one_of(
            st.text(st.characters(categories=("L", "M", "N", "P", "S", "Zs"))),
            st.lists(st.text(st.sampled_from(" a-:#|>\n\"'é")), min_size=1, max_size=3),
            st.integers(-(10**6), 10**6),
            st.floats(1e-12, 1e6),
        ),
        min_size=1,
    )
)
def test_yaml_reads_back_as_it_was(document: dict[str, Any]) -> None:
    read = yaml.safe_load(yaml_text(document))
    for name, value in document.items():
        assert unblocked(read[name]) == unblocked(value)


def unblocked(value: object) -> object:
    """Return a value without the line end that YAML adds to a block."""
    if isinstance(value, list):
        return [unblocked(one) for one in value]
    return value.rstrip("\n") if isinstance(value, str) else value


def test_a_cost_is_never_rounded_down() -> None:
    for number in (Fraction(2, 3), Fraction(1, 3), Fraction(10**9 + 1, 10**9), Fraction(1, 10**9)):
        assert Fraction(at_most(number)) >= number
