"""Binding of a database to its directory of keys: another directory is refused at the start.

With other keys nothing would seem wrong at first: campaigns would get new keys. Then reports that
were acknowledged and are sent again would not be recognised, contributions could not be decrypted,
and clients would refuse the signature of the next list.
"""

import asyncio

from blender_dp.core.errors import BlenderError
from blender_dp.service.keys.key_vault import KeyVault
from blender_dp.service.storage.store import CampaignStore


class WrongKeysError(BlenderError):
    """The directory of keys belongs to another database."""

    def __init__(self, keys: KeyVault) -> None:
        super().__init__(
            f"{keys.directory}: must be the directory of keys that this database was used with "
            "(--keys); if that is lost, put the backup of its signing.key there"
        )


async def require_own_keys(store: CampaignStore, keys: KeyVault) -> None:
    """Refuse keys that are not the database's own; the first ones become its own.

    Nothing is written to a directory that is refused.
    """
    bound = await store.key_fingerprint()
    if bound is not None and not await asyncio.to_thread(keys.has_signing_key):
        raise WrongKeysError(keys)
    given = await asyncio.to_thread(keys.fingerprint)
    if given != (bound or await store.bind_keys(given)):
        raise WrongKeysError(keys)
