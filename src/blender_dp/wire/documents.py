"""JSON files that say what they are and notice when somebody edited them.

Every document names its format and version; one that another step relies on carries a digest
of all its other fields. The digest is taken over JSON with sorted keys and no white space; exact
numbers travel as decimal strings or integers, so that every language writes the same bytes.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blender_dp.core.errors import InputError
from blender_dp.wire.fields import Fields
from blender_dp.wire.staging import staged_file


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest of every field but the digest itself."""
    fields = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its digest."""
    return {**document, "digest": digest_of(document)}


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document for people and programs to read."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    with staged_file(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_document(path: Path, kind: str, version: int = 1) -> Fields:
    """Read a document of this kind and version, and check that nobody changed it."""
    document = _read_json(path)
    fields = Fields(path, document)
    if document.get("format") != kind:
        fields.refuse("format", f'must be a file of format "{kind}"')
    if type(document.get("version")) is not int or document["version"] != version:
        fields.refuse("version", f"must be {version}, the version this software reads")
    if document.get("digest") != _digest_or_none(document):
        fields.refuse(
            "digest",
            "does not match the rest of the file, which was changed after it was written; "
            "use the file as it was made",
        )
    return fields


def _digest_or_none(document: Mapping[str, Any]) -> str | None:
    try:
        return digest_of(document)
    except (UnicodeEncodeError, ValueError, RecursionError):  # half a character, or a number of
        return None  # thousands of digits: no document of ours


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(path, "must be UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(path, "must be JSON", where=f"line {error.lineno}") from None
    except (ValueError, RecursionError):
        raise InputError(path, "holds what no file of ours does") from None
    if not isinstance(document, dict):
        raise InputError(path, "must hold a JSON object")
    return document
