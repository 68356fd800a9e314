"""Keys are made once, are nobody else's, and once destroyed are gone."""

import stat
import threading
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from blender_dp.core.errors import InputError
from blender_dp.service.keys.key_vault import KEY_BYTES, KeyDestroyedError, KeyVault, Purpose

CAMPAIGN = UUID(int=1)


@pytest.fixture
def vault(tmp_path: Path) -> KeyVault:
    return KeyVault(tmp_path / "data" / "keys")


def files_of(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "data" / "keys").iterdir())


def test_a_key_is_made_at_first_use_and_kept(vault: KeyVault, tmp_path: Path) -> None:
    key = vault.key(CAMPAIGN, Purpose.RECORDS)
    assert len(key) == KEY_BYTES
    assert vault.key(CAMPAIGN, Purpose.RECORDS) == key
    assert KeyVault(tmp_path / "data" / "keys").key(CAMPAIGN, Purpose.RECORDS) == key


def test_every_campaign_and_purpose_has_its_own(vault: KeyVault) -> None:
    keys = {vault.key(campaign, p) for campaign in (CAMPAIGN, uuid4()) for p in Purpose}
    assert len(keys) == 2 * len(Purpose)


def test_only_the_owner_can_read_them(vault: KeyVault, tmp_path: Path) -> None:
    vault.key(CAMPAIGN, Purpose.RECORDS)
    vault.signing_key()
    assert {stat.S_IMODE(path.stat().st_mode) for path in files_of(tmp_path)} == {0o600}
    assert stat.S_IMODE((tmp_path / "data" / "keys").stat().st_mode) == 0o700


def test_a_destroyed_key_is_gone_and_is_never_made_again(vault: KeyVault, tmp_path: Path) -> None:
    key = vault.key(CAMPAIGN, Purpose.RECORDS)
    other = vault.key(CAMPAIGN, Purpose.REPORT_TAGS)
    vault.destroy(CAMPAIGN, Purpose.RECORDS)
    with pytest.raises(KeyDestroyedError, match="records was destroyed"):
        vault.key(CAMPAIGN, Purpose.RECORDS)
    assert not any(key in path.read_bytes() for path in files_of(tmp_path))
    assert vault.key(CAMPAIGN, Purpose.REPORT_TAGS) == other


def test_a_key_is_overwritten_before_it_is_removed(vault: KeyVault, tmp_path: Path) -> None:
    vault.key(CAMPAIGN, Purpose.RECORDS)
    (path,) = files_of(tmp_path)
    second_name = tmp_path / "second name"
    second_name.hardlink_to(path)
    vault.destroy(CAMPAIGN)
    assert second_name.read_bytes() == bytes(KEY_BYTES)


def test_all_keys_of_a_campaign_go_unless_told(vault: KeyVault) -> None:
    kept = vault.key(UUID(int=2), Purpose.RECORDS)
    vault.destroy(CAMPAIGN)
    vault.destroy(CAMPAIGN)
    for purpose in Purpose:
        with pytest.raises(KeyDestroyedError):
            vault.key(CAMPAIGN, purpose)
    assert vault.key(UUID(int=2), Purpose.RECORDS) == kept


def test_those_who_make_it_at_once_get_the_same(vault: KeyVault, tmp_path: Path) -> None:
    keys: list[bytes] = []
    ready = threading.Barrier(8)

    def use() -> None:
        ready.wait()
        keys.append(vault.key(CAMPAIGN, Purpose.RECORDS))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 1
    assert len(keys) == 8
    assert len(files_of(tmp_path)) == 1


def test_a_key_destroyed_while_it_is_made_is_not_given_out(tmp_path: Path) -> None:
    directory = tmp_path / "data" / "keys"

    def draw(size: int) -> bytes:
        KeyVault(directory).destroy(CAMPAIGN, Purpose.RECORDS)
        return b"k" * size

    with pytest.raises(KeyDestroyedError):
        KeyVault(directory, draw=draw).key(CAMPAIGN, Purpose.RECORDS)
    assert [path.suffix for path in files_of(tmp_path)] == [".destroyed"]


def test_the_signing_key_survives_a_restart(vault: KeyVault, tmp_path: Path) -> None:
    public = vault.signing_key().public_key()
    assert KeyVault(tmp_path / "data" / "keys").signing_key().public_key() == public


def test_a_damaged_key_is_refused_without_showing_it(vault: KeyVault, tmp_path: Path) -> None:
    vault.key(CAMPAIGN, Purpose.RECORDS)
    (path,) = files_of(tmp_path)
    path.write_bytes(b"short secret")
    with pytest.raises(InputError, match="must hold 32 bytes") as error:
        vault.key(CAMPAIGN, Purpose.RECORDS)
    assert "secret" not in str(error.value)


def test_a_place_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        KeyVault(tmp_path / "file")
