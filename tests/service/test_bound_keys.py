"""Tests of the binding of a database to its keys: another directory is refused, untouched."""

from pathlib import Path

import pytest

from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.open_store import WrongKeysError, open_store, require_own_keys

pytestmark = pytest.mark.anyio


async def start(place: Path, keys: str) -> None:
    """Do what a service does when it starts."""
    store = await open_store(str(place / "service.sqlite"))
    try:
        await require_own_keys(store, KeyVault(place / keys))
    finally:
        await store.close()


async def test_the_same_keys_are_accepted_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        await start(tmp_path, "keys")


async def test_an_empty_directory_is_refused_and_stays_empty(tmp_path: Path) -> None:
    await start(tmp_path, "keys")
    with pytest.raises(WrongKeysError) as refused:
        await start(tmp_path, "elsewhere")
    message = str(refused.value)
    assert message.startswith(f"{tmp_path / 'elsewhere'}: must be the directory of keys that")
    assert "\n" not in message
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_the_keys_of_another_service_are_refused(tmp_path: Path) -> None:
    await start(tmp_path, "keys")
    KeyVault(tmp_path / "others").signing_key()
    with pytest.raises(WrongKeysError):
        await start(tmp_path, "others")
    await start(tmp_path, "keys")


async def test_a_backup_of_the_signing_key_is_enough(tmp_path: Path) -> None:
    await start(tmp_path, "keys")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "signing.key").write_bytes((tmp_path / "keys/signing.key").read_bytes())
    await start(tmp_path, "new")


async def test_the_fingerprint_is_of_the_public_key(tmp_path: Path) -> None:
    vault = KeyVault(tmp_path)
    fingerprint = vault.fingerprint()
    assert fingerprint == KeyVault(tmp_path).fingerprint()
    assert (tmp_path / "signing.key").read_bytes().hex() not in fingerprint
