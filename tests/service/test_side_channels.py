"""What figures, refusals and unread bodies give away: nothing about contributions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from service.bad_requests import JSON
from service.running import Service, an_unknown_token, running, slug_of

from blender_dp.service.http.access import Role

pytestmark = pytest.mark.anyio


async def test_contributions_are_counted_but_not_timed(fresh: Service) -> None:
    campaign = await fresh.with_contributions(3)
    path = f"/v1/campaigns/{campaign}/opt-in"
    await fresh.http.delete(path, headers={"authorization": f"Bearer {an_unknown_token()}"})
    figures = (await fresh.http.get("/metrics")).text.splitlines()
    of_contributions = [line for line in figures if "/opt-in" in line]
    assert any("requests_total" in line and line.endswith(" 3.0") for line in of_contributions)
    assert not [line for line in of_contributions if "_seconds" in line]
    assert any("request_seconds_bucket" in line and "/enrolments" in line for line in figures)


async def test_figures_can_be_kept_for_those_who_have_a_role(tmp_path: Path) -> None:
    async with running(tmp_path, metrics_need_token=True) as service:
        assert slug_of(await service.http.get("/metrics")) == "token-missing"
        wrong = {"authorization": f"Bearer {an_unknown_token()}"}
        assert slug_of(await service.http.get("/metrics", headers=wrong)) == "token-unknown"
        for role in Role:
            answer = await service.http.get("/metrics", headers=service.as_role(role))
            assert "blender_dp_requests_total" in answer.text


@pytest.mark.parametrize(
    ("path", "role", "slug"),
    [
        ("/v1/campaigns", None, "token-missing"),
        ("/v1/campaigns", Role.ANALYST, "role-not-enough"),
        ("/v1/campaigns/{campaign}/moves", None, "token-missing"),
        ("/v1/campaigns/{campaign}/enrolments", Role.AUDITOR, "role-not-enough"),
        ("/v1/plan", None, "token-missing"),
        ("/v1/campaigns/{campaign}/opt-in", None, "token-missing"),
        ("/v1/campaigns/{campaign}/opt-in", Role.OPERATOR, "token-unknown"),
        ("/v1/campaigns/{draft}/opt-in", Role.OPERATOR, "campaign-not-collecting"),
    ],
)
async def test_no_body_is_read_of_those_who_may_not_send_one(
    service: Service, path: str, role: Role | None, slug: str
) -> None:
    campaign, draft = await service.with_contributions(0), await service.created()
    read: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(3):
            read.append(number)
            yield b" "

    headers = {**JSON, **(service.as_role(role) if role else {})}
    answer = await service.http.post(
        path.format(campaign=campaign, draft=draft), content=pieces(), headers=headers
    )
    assert slug_of(answer) == slug
    assert read == []


@pytest.mark.parametrize(
    "path",
    ["/%00", "/a%00b", "/assets/%00", "/" + "a" * 300, "/" + "a/" * 3000, "/index.html/x"],
    ids=["zero", "zero inside", "zero in a folder", "a long name", "many folders", "in a file"],
)
async def test_a_name_that_no_file_can_have_is_not_found(tmp_path: Path, path: str) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.html").write_text("a page")
    async with running(tmp_path, dashboard=pages) as service:
        assert (await service.http.get("/")).text == "a page"
        answer = await service.http.get(path)
        assert (answer.status_code, slug_of(answer)) == (404, "not-found")
        assert '"event":"failure"' not in await service.written()


@pytest.mark.parametrize(
    "field", ["planted", " - at `$.planted", " - at `planted", "` - at `$.planted"]
)
async def test_a_refusal_does_not_repeat_the_name_of_a_field(fresh: Service, field: str) -> None:
    answer = await fresh.http.post(
        "/v1/campaigns", json={field: 1}, headers=fresh.as_role(Role.OPERATOR)
    )
    assert slug_of(answer) == "body-not-understood"
    assert "planted" not in answer.text
