"""A directory of keys that goes away under a running service is neither refilled nor trusted."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from service.running import Service, slug_of

from blender_dp.service.http.access import Role
from blender_dp.service.keys.key_vault import KeysGoneError, KeyVault, Purpose

pytestmark = pytest.mark.anyio
CAMPAIGN = uuid4()
USES: dict[str, Callable[[KeyVault], object]] = {
    "make": lambda vault: vault.key(CAMPAIGN, Purpose.REPORT_TAGS),
    "read": lambda vault: vault.key(CAMPAIGN, Purpose.RECORDS),
    "destroy": lambda vault: vault.destroy(CAMPAIGN),
    "record": lambda vault: vault.record_draw(CAMPAIGN, bytes(32)),
    "sign": KeyVault.signing_key,
}


@contextmanager
def unmounted(keys: Path) -> Iterator[None]:
    """Put an empty directory in the place of the keys, as if their disk were unmounted."""
    away = keys.with_name("away")
    keys.rename(away)
    keys.mkdir()
    yield
    assert list(keys.iterdir()) == []
    keys.rmdir()
    away.rename(keys)


def emptied(keys: Path) -> None:
    for path in keys.iterdir():
        path.unlink()


def with_another_signing_key(keys: Path) -> None:
    (keys / "signing.key").write_bytes(bytes(32))


def copied(keys: Path) -> None:
    keys.rename(keys.with_name("old"))
    shutil.copytree(keys.with_name("old"), keys)


def removed(keys: Path) -> None:
    keys.rename(keys.with_name("old"))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("lose", [emptied, with_another_signing_key, copied, removed])
def test_nothing_is_done_in_another_directory(
    tmp_path: Path, lose: Callable[[Path], None], use: str
) -> None:
    keys = tmp_path / "keys"
    vault = KeyVault(keys)
    vault.signing_key()
    vault.key(CAMPAIGN, Purpose.RECORDS)
    lose(keys)
    before = {path: path.read_bytes() for path in keys.glob("*")}
    with pytest.raises(KeysGoneError, match="put it back in its place"):
        USES[use](vault)
    assert {path: path.read_bytes() for path in keys.glob("*")} == before
    assert keys.exists() == (lose is not removed)


def test_a_directory_that_goes_away_meanwhile_is_noticed(tmp_path: Path) -> None:
    keys = tmp_path / "keys"

    def draw(count: int) -> bytes:
        if count == 32:
            copied(keys)
        return bytes(count)

    with pytest.raises(KeysGoneError):
        KeyVault(keys, draw=draw).key(CAMPAIGN, Purpose.RECORDS)


def test_keys_that_are_back_are_used_again(tmp_path: Path) -> None:
    vault = KeyVault(tmp_path / "keys")
    key = vault.key(CAMPAIGN, Purpose.RECORDS)
    with unmounted(tmp_path / "keys"), pytest.raises(KeysGoneError):
        vault.key(CAMPAIGN, Purpose.RECORDS)
    assert vault.key(CAMPAIGN, Purpose.RECORDS) == key


async def test_requests_that_need_keys_are_told_to_come_again(
    fresh: Service, tmp_path: Path
) -> None:
    published = await fresh.published()
    report = published.report()
    other = await fresh.with_contributions(1)
    (token,) = await fresh.enrolled(other, 1)
    with unmounted(tmp_path / "keys"):
        answers = [
            await fresh.contribute(other, token),
            await fresh.send(published.campaign, report),
            await fresh.http.get("/v1/log"),
            await fresh.http.get("/v1/audit-log", headers=fresh.as_role(Role.AUDITOR)),
        ]
    for answer in answers:
        assert (answer.status_code, slug_of(answer)) == (503, "keys-gone")
        assert "retry-after" in answer.headers
    assert (await fresh.contribute(other, token)).status_code == 201
    assert (await fresh.send(published.campaign, report)).status_code == 202
    assert "failure" not in await fresh.written()


async def test_an_erasure_waits_until_the_keys_are_back(fresh: Service, tmp_path: Path) -> None:
    campaign = await fresh.with_contributions(2)
    with unmounted(tmp_path / "keys"):
        await fresh.moved(campaign, "purge", "opt-in-open")
        assert await fresh.worker.run_one()
        (job,) = (await fresh.progress(campaign))["jobs"]
        assert (job["state"], job["attempts"]) == ("running", 1)
    assert list((tmp_path / "keys").glob(f"{campaign}.*.key"))
    await fresh.outlast_lease()
    await fresh.jobs_done()
    (job,) = (await fresh.progress(campaign))["jobs"]
    assert job["state"] == "done"
    assert not list((tmp_path / "keys").glob(f"{campaign}.*.key"))


async def test_a_list_waits_until_the_keys_are_back(fresh: Service, tmp_path: Path) -> None:
    campaign = await fresh.with_contributions()
    await fresh.moved(campaign, "seal-opt-in", "opt-in-open")
    with unmounted(tmp_path / "keys"):
        assert await fresh.worker.run_one()
    await fresh.outlast_lease()
    await fresh.jobs_done()
    assert await fresh.state(campaign) == "list-published"
