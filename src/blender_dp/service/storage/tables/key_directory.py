"""The directory of keys that a database is used with, known by a public fingerprint."""

from blender_dp.service.storage.database import Transaction, first


async def fingerprint(tx: Transaction) -> str | None:
    """Return the fingerprint of the keys, or None if the database was never used with any."""
    found = await first(tx, "SELECT fingerprint FROM key_directory")
    return None if found is None else str(found[0])


async def bind(tx: Transaction, fingerprint_now: str) -> str:
    """Bind the database to its keys, once; return what it is bound to."""
    await tx.run(
        "INSERT INTO key_directory (number, fingerprint) VALUES (1, $1)"
        " ON CONFLICT (number) DO NOTHING",
        fingerprint_now,
    )
    return await fingerprint(tx) or fingerprint_now
