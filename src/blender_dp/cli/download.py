"""``blender-dp download``: fetches and checks a campaign's release, and writes it like a run."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from blender_dp.cli.options import Flag, Output, ReaderWords
from blender_dp.cli.outputs import show_result
from blender_dp.cli.terminal import say
from blender_dp.client.released import ReleasedFiles, fetch_released
from blender_dp.client.transport import HttpTransport
from blender_dp.pages.outputs import FILES, write_outputs
from blender_dp.pages.words import Words
from blender_dp.wire.documents.document import write_document
from blender_dp.wire.documents.staging import staged_directory
from blender_dp.wire.documents.times import written_time
from blender_dp.wire.published.release import release_of
from blender_dp.wire.service.signatures import require_key


def download(
    url: str,
    campaign: UUID,
    /,
    *,
    output: Output,
    key: str | None = None,
    words: ReaderWords = Words(),  # noqa: B008 - frozen
    overwrite: Flag = False,
    json: Flag = False,
) -> None:
    """Fetch a campaign's release, check all of it and write the same files as run.

    The signature of the head list, the hash chain of the public log, every digest and the
    certificate are checked, and the release is computed again from the released integers.
    Exit status: 0 when written, 2 if a check fails or the campaign is not released.

    Parameters
    ----------
    url
        The service's address.
    campaign
        The campaign's id.
    output
        Directory to make for the results.
    key
        The service's public key, which must have signed everything. Default: the one it names.
    overwrite
        Replace an earlier result in the same place, once the new one is complete.
    json
        Print a summary for a program instead of the table.
    """
    pinned = None if key is None else require_key(key)
    with HttpTransport(url) as transport:
        released = fetch_released(transport, campaign, key=pinned)
    with staged_directory(output, overwrite=overwrite, replaceable=FILES) as partial:
        write_released(partial, released, campaign, words)
    if pinned is None:
        say(f"signed with the key {released.public_key}; pass it as --key from now on")
    show_result(released.result, output, _all_words(released, words), as_json=json)


def write_released(
    directory: Path, released: ReleasedFiles, campaign: UUID, words: Words | None = None
) -> None:
    """Write every file of a release."""
    for name, document in released.documents.items():
        write_document(directory / name, document)
    release = released.documents["release.json"]
    created = str(release["created"])
    facts = {"downloaded": written_time(datetime.now(UTC)), "campaign": str(campaign)}
    facts |= _all_words(released, words or Words()).facts()
    write_outputs(
        directory,
        released.result,
        released.certificate,
        created=created,
        facts=facts,
        relay_batch=release.get("relay_batch"),
    )
    # Exactly as it was released: the log names its digest.
    write_document(directory / "release.json", release)


def _all_words(released: ReleasedFiles, words: Words) -> Words:
    """Return the reader's words, and those of the campaign where the reader gave none."""
    name = "release.json"
    return words.or_those_of(release_of(released.documents[name], name))
