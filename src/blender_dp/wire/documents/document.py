"""JSON documents with a format, a version and a digest that detects changes.

Every document names its format and version. A document that another step relies on has a digest of
all its other fields. The digest is computed over JSON with sorted keys and no white space. Exact
numbers are decimal strings or integers, so that every language writes the same bytes.
"""

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from blender_dp.core.errors import InputError, ParameterError
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.documents.staging import staged_file
from blender_dp.wire.documents.strict_json import read_object

MOST_BYTES = 2**28
"""Size limit of a file: a list of 100,000 queries has a fifth of this."""


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of a document, over which digests and signatures are computed."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def digest_of_bytes(content: bytes) -> str:
    """Return the digest of any bytes, as documents write it."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest of every field but the digest itself."""
    fields = {name: value for name, value in document.items() if name != "digest"}
    return digest_of_bytes(canonical(fields))


def with_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its digest."""
    return {**document, "digest": digest_of(document)}


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document for people and programs to read."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    with staged_file(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_document(path: Path, kind: str, version: int = 1, *, has_digest: bool = True) -> Fields:
    """Read a document of this kind and version, and check that it was not changed.

    Args:
        path: The file.
        kind: The value that its field ``format`` must have.
        version: The only version that is accepted.
        has_digest: Whether such documents carry a digest.
    """
    return verified(path, read_json(path), kind, version, has_digest=has_digest)


def verified(
    path: Path | str,
    document: Mapping[str, Any],
    kind: str,
    version: int = 1,
    *,
    has_digest: bool = True,
) -> Fields:
    """Check a document from ``path``: a file, a part of a file, or a service's answer."""
    fields = Fields(path, document)
    if document.get("format") != kind:
        fields.refuse("format", f'must be a file of format "{kind}"')
    if type(document.get("version")) is not int or document["version"] != version:
        fields.refuse("version", f"must be {version}, the version this software reads")
    if has_digest and document.get("digest") != _digest_or_none(document):
        fields.refuse(
            "digest",
            "does not match the rest of the file, which was changed after it was written; "
            "use the file as it was made",
        )
    return fields


def _digest_or_none(document: Mapping[str, Any]) -> str | None:
    try:
        return digest_of(document)
    except (UnicodeEncodeError, ValueError, RecursionError):  # half a character, or a number with
        return None  # thousands of digits, which no document has


def require_path(name: str, value: object) -> Path:
    """Return a path; refuse what is none.

    Raises:
        ParameterError: It is neither a text nor a path.
    """
    if not isinstance(value, str | PathLike):
        raise ParameterError(name, "a path", type(value).__name__)
    return Path(value)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object of any kind."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None
    if len(content) > MOST_BYTES:
        raise InputError(path, f"must be at most {MOST_BYTES >> 20} MiB")
    return read_object(path, content)
