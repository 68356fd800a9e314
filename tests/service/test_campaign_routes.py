"""Campaigns over HTTP: who may do what, and that no move goes back."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from service.running import CONSENT, UNLIMITED, Service, a_campaign, a_relay, running, slug_of

from blender_dp.client import ClientPolicy
from blender_dp.core.certificate.certificate import Certificate
from blender_dp.core.certificate.certify import certify_plan
from blender_dp.core.parameters import Parameters
from blender_dp.service.dependencies import Limits
from blender_dp.service.http.access import Role
from blender_dp.wire.service.contribution import consent_digest
from campaign_stores import a_campaign as stored_campaign

pytestmark = pytest.mark.anyio


async def test_a_campaign_is_made_in_draft_and_shown_to_everybody(service: Service) -> None:
    campaign = await service.created(
        name="trends", rules={"opt_in_enough": 5, "opt_in_until": "2026-12-01T00:00:00+01:00"}
    )
    shown = (await service.http.get(f"/v1/campaigns/{campaign}")).json()
    assert (shown["id"], shown["name"], shown["state"]) == (campaign, "trends", "draft")
    assert shown["consent"]["text_digest"] == consent_digest(CONSENT)
    assert shown["parameters"]["epsilon"] == 4
    assert shown["rules"]["opt_in_enough"] == 5
    assert shown["rules"]["opt_in_until"] == "2026-11-30T23:00:00Z"
    assert shown["controller"] == "A town library"
    assert shown["contact"] == "privacy@library.example"
    assert shown["privacy_policy"] == "https://library.example/privacy"
    assert shown["certificate"]["verdict"] == "kept"
    assert shown["created_at"] == shown["moved_at"] == "2026-11-15T12:00:00Z"


@pytest.mark.parametrize(
    ("clients", "opt_in", "is_warned"),
    [(9_000, None, False), (20_000, None, True), (9_000, 1_000, False), (9_000, 11_000, True)],
)
async def test_a_large_delta_for_the_people_expected_is_warned_of(
    service: Service, clients: int, opt_in: int | None, is_warned: bool
) -> None:
    """Of both groups; how many will opt in is known where a number ends that side."""
    body = a_campaign(
        parameters={"epsilon": 4, "delta": 1e-5},
        expected_clients=clients,
        rules={"opt_in_enough": opt_in},
    )
    made = await service.http.post(
        "/v1/campaigns", json=body, headers=service.as_role(Role.OPERATOR)
    )
    read = await service.http.get(f"/v1/campaigns/{made.json()['id']}")
    for shown in (made.json(), read.json()):
        assert [" is large for 20,000 users" in said for said in shown["warnings"]] == (
            [True] if is_warned else []
        )


async def test_campaigns_are_listed_newest_first_and_in_pages(fresh: Service) -> None:
    made = []
    for _ in range(3):
        fresh.clock.pass_by(1)
        made.append(await fresh.created())
    headers = fresh.as_role(Role.ANALYST)

    async def listed(query: str) -> list[str]:
        answer = await fresh.http.get(f"/v1/campaigns{query}", headers=headers)
        return [one["id"] for one in answer.json()["campaigns"]]

    assert await listed("") == made[::-1]
    assert await listed("?limit=2") == made[:0:-1]
    assert await listed(f"?after={made[1]}") == made[:1]


@pytest.mark.parametrize("role", [None, Role.ANALYST, Role.AUDITOR])
async def test_only_an_operator_makes_and_moves(service: Service, role: Role | None) -> None:
    campaign = await service.created()
    headers = {} if role is None else service.as_role(role)
    expected = "token-missing" if role is None else "role-not-enough"
    put = await service.http.put(f"/v1/campaigns/{uuid4()}", json=a_campaign(), headers=headers)
    assert slug_of(put) == expected
    for path, body in [
        ("/v1/campaigns", a_campaign()),
        (f"/v1/campaigns/{campaign}/moves", {"move": "open-opt-in", "from": "draft"}),
        (f"/v1/campaigns/{campaign}/enrolments", {"count": 1}),
    ]:
        answer = await service.http.post(path, json=body, headers=headers)
        assert slug_of(answer) == expected
        assert ("www-authenticate" in answer.headers) == (role is None)
    assert await service.state(campaign) == "draft"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/campaigns", set(Role)),
        ("/v1/whoami", set(Role)),
        ("/v1/audit-log", {Role.OPERATOR, Role.AUDITOR}),
    ],
)
async def test_every_role_reads_what_it_may(
    service: Service, path: str, allowed: set[Role]
) -> None:
    for role in Role:
        answer = await service.http.get(path, headers=service.as_role(role))
        assert answer.status_code == (200 if role in allowed else 403), role


async def test_a_token_says_whose_it_is(service: Service) -> None:
    answer = await service.http.get("/v1/whoami", headers=service.as_role(Role.AUDITOR))
    assert answer.json()["role"] == "auditor"


async def test_a_revoked_token_opens_nothing(fresh: Service) -> None:
    headers = fresh.as_role(Role.ANALYST)
    name = (await fresh.http.get("/v1/whoami", headers=headers)).json()["name"]
    await fresh.dependencies.store.revoke_token(name, now=fresh.clock())
    assert slug_of(await fresh.http.get("/v1/whoami", headers=headers)) == "token-unknown"


async def test_a_campaign_is_put_under_an_id_of_the_caller_and_edited_until_it_opens(
    service: Service,
) -> None:
    path, headers = f"/v1/campaigns/{uuid4()}", service.as_role(Role.OPERATOR)
    answers = await asyncio.gather(
        *(service.http.put(path, json=a_campaign(), headers=headers) for _ in range(3))
    )
    assert [answer.json() for answer in answers] == [answers[0].json()] * 3
    read = {**headers, "if-match": answers[0].headers["etag"]}
    edited = await service.http.put(path, json=a_campaign(name="edited"), headers=read)
    assert (edited.status_code, edited.json()["name"]) == (200, "edited")
    await service.move(edited.json()["id"], "open-opt-in", "draft")
    refused = await service.http.put(path, json=a_campaign(), headers=headers)
    assert slug_of(refused) == "not-a-draft"
    assert (await service.http.get(path)).json()["name"] == "edited"


async def test_a_late_request_does_not_undo_another_operators_edit(service: Service) -> None:
    path, headers = f"/v1/campaigns/{uuid4()}", service.as_role(Role.OPERATOR)

    async def put(name: str, **conditions: str) -> httpx.Response:
        given = {condition.replace("_", "-"): value for condition, value in conditions.items()}
        return await service.http.put(
            path, json=a_campaign(name=name), headers={**headers, **given}
        )

    first = (await put("first")).headers["etag"]
    assert first == (await service.http.get(path)).headers["etag"]
    second = await put("second", if_match=first)
    assert (second.status_code, second.headers["etag"] == first) == (200, False)
    for late in (
        await put("first"),
        await put("first", if_none_match="*"),
        await put("third", if_match=first),
        await put("third", if_match=f"W/{second.headers['etag']}"),
    ):
        assert (late.status_code, slug_of(late)) == (412, "draft-changed")
    assert (await put("second", if_match=first)).status_code == 200, "the answer got lost"
    wrong = await put("third", if_match=second.headers["etag"].strip('"'))
    assert (slug_of(wrong), wrong.json()["where"]) == ("request-not-understood", "if-match")
    assert (await service.http.get(path)).json()["name"] == "second"
    tags = f'"sha256:0", {second.headers["etag"]}'
    assert (await put("third", if_match=tags)).json()["name"] == "third"
    assert (await put("fourth", if_match="*")).json()["name"] == "fourth"
    path = f"/v1/campaigns/{uuid4()}"
    assert slug_of(await put("never made", if_match="*")) == "unknown-campaign"


UNREADABLE = [
    *(("name", "\u202egnp.exe"), ("name", "  "), ("name", "\u200d"), ("name", "a\nb")),
    *(("controller", "\x07"), ("controller", " \t"), ("controller", "A\u2066B")),
    *(("contact", "a@b.example\r\nBcc: c@d.example"), ("contact", "\u00a0")),
    *(("purpose", "\n \n"), ("purpose", "red \x1b[31m"), ("purpose", "a\rb")),
    *(("query_name", " "), ("url_name", "\u2028")),
    ("consent", {"version": "1", "text": " \n"}),
    ("consent", {"version": "1", "text": "I agree\u202e"}),
    ("consent", {"version": " ", "text": CONSENT}),
    *(
        ("privacy_policy", f"https://library.example/{odd}")
        for odd in ("\u202egnp", "\\@evil", "\u200b")
    ),
    ("privacy_policy", "https://user:password@library.example/"),
    ("privacy_policy", "https://library.example\\@evil.example/"),
    ("privacy_policy", "https://library.example:99999/"),
]


@pytest.mark.parametrize(("field", "value"), UNREADABLE)
async def test_a_text_that_people_could_not_read_as_it_is_meant_is_refused(
    service: Service, field: str, value: object
) -> None:
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(**{field: value}), headers=service.as_role(Role.OPERATOR)
    )
    assert (answer.status_code, slug_of(answer)) == (422, "unreadable-text")
    inner = {"consent": {"text", "version"}}
    assert answer.json()["where"] in inner.get(field, {field})


async def test_texts_of_any_script_are_taken(service: Service) -> None:
    texts = {
        "name": "نمی\u200cشود 👩\u200d🔬",
        "purpose": "Erste Zeile\n\nzweite Zeile",
        "privacy_policy": "https://bücherei.example:8443/@wir/datenschutz?a=b@c#d",
    }
    shown = (await service.http.get(f"/v1/campaigns/{await service.created(**texts)}")).json()
    assert {name: shown[name] for name in texts} == texts


async def test_a_draft_that_does_not_say_who_collects_is_read_and_not_opened(
    service: Service,
) -> None:
    """It was made before the fields were required."""
    older = replace(stored_campaign(), controller=None, contact=None, privacy_policy=None)
    await service.dependencies.store.put_campaign(older, actor="somebody")
    shown = (await service.http.get(f"/v1/campaigns/{older.id}")).json()
    assert (shown["controller"], shown["contact"], shown["privacy_policy"]) == (None, None, None)
    answer = await service.move(str(older.id), "open-opt-in", "draft")
    assert (slug_of(answer), answer.json()["where"]) == ("parameters-refused", "controller")


@pytest.mark.parametrize("name", ["opt_in_until", "clients_until"])
async def test_a_draft_whose_time_is_over_is_not_opened(fresh: Service, name: str) -> None:
    """It would be closed at once, with nobody in it, and could not be edited any more."""
    until = fresh.clock() + timedelta(seconds=10)
    campaign = await fresh.created(rules={name: until.isoformat()})
    fresh.clock.pass_by(10)
    answer = await fresh.move(campaign, "open-opt-in", "draft")
    assert (slug_of(answer), answer.json()["where"]) == ("parameters-refused", name)
    assert await fresh.state(campaign) == "draft"


async def test_a_move_is_refused_from_any_other_state(service: Service) -> None:
    campaign = await service.created()
    for move, origin in [
        *(("seal-opt-in", "opt-in-open"), ("open-clients", "list-published")),
        *(("open-opt-in", "opt-in-open"), ("seal-clients", "clients-open")),
    ]:
        assert slug_of(await service.move(campaign, move, origin)) == "move-not-allowed"
    assert await service.state(campaign) == "draft"


async def test_there_is_no_way_back(service: Service) -> None:
    campaign = await service.created()
    await service.moved(campaign, "open-opt-in", "draft")
    await service.moved(campaign, "purge", "opt-in-open")
    for move, origin in [("open-opt-in", "draft"), ("open-opt-in", "purged"), ("purge", "purged")]:
        assert slug_of(await service.move(campaign, move, origin)) == "move-not-allowed"


@pytest.mark.parametrize(
    ("move", "origin"), [("publish-list", "opt-in-sealed"), ("release", "clients-sealed")]
)
async def test_nobody_but_a_job_publishes_or_releases(
    service: Service, move: str, origin: str
) -> None:
    campaign = await service.created()
    assert slug_of(await service.move(campaign, move, origin)) == "move-not-allowed"


@pytest.mark.parametrize(
    ("parameters", "slug"),
    [
        ({"epsilon": 1e-9, "delta": 1e-5}, "parameters-refused"),
        ({"epsilon": 4, "delta": 1e-5, "records_per_optin_user": 3}, "parameters-refused"),
        (
            {"epsilon": 4, "delta": 1e-5, "preset": "paper", "one_record_each": True},
            "parameters-refused",
        ),
    ],
)
async def test_a_promise_that_cannot_be_kept_makes_no_campaign(
    service: Service, parameters: dict[str, object], slug: str
) -> None:
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(parameters=parameters), headers=service.as_role()
    )
    assert slug_of(answer) == slug


async def test_a_campaign_may_name_its_queries_and_urls(service: Service) -> None:
    wanted = {"query_name": "product", "url_name": "state"}
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(**wanted), headers=service.as_role()
    )
    shown = answer.json()
    assert {name: shown[name] for name in wanted} == wanted
    assert {name: shown["description"][name] for name in wanted} == wanted
    plain = await service.http.post("/v1/campaigns", json=a_campaign(), headers=service.as_role())
    assert not set(wanted) & set(plain.json()["description"])
    assert plain.json()["query_name"] is None


async def test_a_campaign_may_have_a_relay(service: Service) -> None:
    body = a_campaign(relay=a_relay(address="https://relay.example/town"))
    shown = (await service.http.post("/v1/campaigns", json=body, headers=service.as_role())).json()
    assert shown["relay"] == a_relay(
        address="https://relay.example/town/", epsilon_cap=8.0, dishonest=0.2
    )
    assert shown["rules"]["relay_wait_hours"] == 48
    assert shown["description"]["relay"]["address"] == "https://relay.example/town/"
    read = (await service.http.get(f"/v1/campaigns/{shown['id']}")).json()
    assert read == shown
    plain = await service.http.post("/v1/campaigns", json=a_campaign(), headers=service.as_role())
    assert "relay" not in plain.json()["description"]
    assert (plain.json()["relay"], plain.json()["rules"]["relay_wait_hours"]) == (None, None)


@pytest.mark.parametrize(
    ("relay", "slug", "where"),
    [
        ({"address": "ftp://relay.example/"}, "body-not-understood", "$.relay.address"),
        ({"address": "https://me@relay.example/"}, "parameters-refused", "relay.address"),
        ({"address": "https://relay.example/?a"}, "parameters-refused", "relay.address"),
        ({"address": "https://relay.example/#a"}, "parameters-refused", "relay.address"),
        ({"address": "https://relay.example:http/"}, "parameters-refused", "relay.address"),
        ({"public_key": "A" * 42}, "body-not-understood", "$.relay.public_key"),
        ({"public_key": "A" * 42 + "B"}, "parameters-refused", "relay.public_key"),
        ({"least_batch": 0}, "body-not-understood", "$.relay.least_batch"),
        ({"least_batch": 1}, "parameters-refused", "relay.least_batch"),
        ({"epsilon_cap": 0}, "body-not-understood", "$.relay.epsilon_cap"),
        ({"dishonest": 1}, "body-not-understood", "$.relay.dishonest"),
        ({"share": 0.5}, "body-not-understood", "$.relay"),
    ],
)
async def test_a_relay_that_cannot_be_makes_no_campaign(
    service: Service, relay: dict[str, object], slug: str, where: str
) -> None:
    body = a_campaign(relay=a_relay(**relay))
    answer = await service.http.post("/v1/campaigns", json=body, headers=service.as_role())
    assert (slug_of(answer), answer.json().get("where")) == (slug, where)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        (
            {"relay": a_relay(), "parameters": {"epsilon": 4, "delta": 1e-2, "preset": "paper"}},
            "relay",
        ),
        ({"rules": {"relay_wait_hours": 3}}, "relay_wait_hours"),
    ],
)
async def test_a_relay_goes_with_its_preset_and_its_rule(
    service: Service, changes: dict[str, object], where: str
) -> None:
    body = a_campaign(**changes)
    answer = await service.http.post("/v1/campaigns", json=body, headers=service.as_role())
    assert (slug_of(answer), answer.json()["where"]) == ("parameters-refused", where)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\n"])
async def test_a_name_with_invisible_signs_makes_no_campaign(service: Service, sign: str) -> None:
    answer = await service.http.post(
        "/v1/campaigns", json=a_campaign(name=f"Search{sign}gnp"), headers=service.as_role()
    )
    assert (slug_of(answer), answer.json()["where"]) == ("unreadable-text", "name")


async def test_a_campaign_above_its_promise_neither_begins_nor_opens(
    fresh: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a later version found that these parameters spend twice what they promise."""
    campaign = await fresh.created()

    def twice_spent(parameters: Parameters) -> Certificate:
        accounts = [
            replace(account, promised_epsilon=account.promised_epsilon / 2)
            for account in certify_plan(parameters).accounts
        ]
        return Certificate(accounts=tuple(accounts))

    monkeypatch.setattr("blender_dp.service.state.certify_plan", twice_spent)
    fresh.http._transport.app.service._plans.clear()  # type: ignore[attr-defined]  # a new process
    answer = await fresh.move(campaign, "open-opt-in", "draft")
    assert (answer.status_code, slug_of(answer)) == (422, "promise-broken")
    stored = await fresh.dependencies.store.campaign(UUID(campaign))
    assert stored.state == "draft"
    again = await fresh.http.post("/v1/campaigns", json=a_campaign(), headers=fresh.as_role())
    assert slug_of(again) == "promise-broken"
    assert (await fresh.move(campaign, "purge", "draft")).status_code == 200


async def test_a_campaign_that_does_not_exist_is_nowhere(service: Service) -> None:
    path = f"/v1/campaigns/{uuid4()}"
    for place in ("", "/head-list", "/release", "/certificate", "/progress"):
        answer = await service.http.get(path + place, headers=service.as_role())
        assert (answer.status_code, slug_of(answer)) == (404, "unknown-campaign"), place


async def test_who_did_what_is_in_the_audit_log(fresh: Service) -> None:
    campaign = await fresh.created()
    await fresh.moved(campaign, "open-opt-in", "draft")
    await fresh.enrolled(campaign, 2)
    answer = await fresh.http.get("/v1/audit-log", headers=fresh.as_role(Role.AUDITOR))
    actors = {entry["actor"] for entry in answer.json()["entries"] if entry["campaign"] == campaign}
    kinds = [entry["kind"] for entry in answer.json()["entries"] if entry["campaign"] == campaign]
    assert actors == {"operator 0"}
    assert len(kinds) == 3
    assert kinds[-1] == "enrolments"


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[Service]:
    async with running(tmp_path, limits=replace(UNLIMITED, most_delta=1e-5)) as service:
        yield service


async def test_a_delta_above_the_services_cap_makes_no_campaign(strict: Service) -> None:
    too_much = a_campaign(parameters={"epsilon": 4, "delta": 1.0000001e-5})
    answer = await strict.http.post("/v1/campaigns", json=too_much, headers=strict.as_role())
    assert (slug_of(answer), answer.json()["where"]) == ("parameters-refused", "delta")
    await strict.created(parameters={"epsilon": 4, "delta": 1e-5})


async def test_a_draft_from_before_the_cap_does_not_open(strict: Service) -> None:
    draft = replace(stored_campaign(), parameters=Parameters(epsilon=4.0, delta=1e-2))
    await strict.dependencies.store.put_campaign(draft, actor="operator")
    answer = await strict.move(str(draft.id), "open-opt-in", "draft")
    assert slug_of(answer) == "parameters-refused"
    assert await strict.state(str(draft.id)) == "draft"


async def test_a_service_allows_what_devices_allow() -> None:
    assert Limits().most_delta == ClientPolicy().most_delta == 1e-5
