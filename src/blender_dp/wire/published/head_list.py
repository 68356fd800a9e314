"""Published head list: ``head_list.json``, version 1."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from blender_dp.core.channels.mechanism import (
    MECHANISMS,
    RELAY_MECHANISMS,
    Mechanism,
    ThroughRelay,
)
from blender_dp.core.errors import BrokenInvariantError, ParameterError
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.wire.documents.document import read_document, require_path, verified, with_digest
from blender_dp.wire.documents.fields import Fields
from blender_dp.wire.tokens.token_key import TOKEN_KEY_RULE, read_token_key

FORMAT = "blender-dp head list"
_Kind = TypeVar("_Kind", bound=Mechanism)


def head_list_document(head_list: HeadList) -> dict[str, Any]:
    """Return the published document: the list, the mechanism of reports, and a digest."""
    relay = head_list.relay
    return with_digest(
        {
            "format": FORMAT,
            "version": 1,
            "private": head_list.private,
            "mechanism": _mechanism_document(head_list.mechanism),
            **({} if relay is None else {"relay": _mechanism_document(relay)}),
            **({} if head_list.token_key is None else {"token_key": head_list.token_key}),
            "queries": [
                {"query": query, "urls": list(urls)}
                for query, urls in zip(head_list.queries, head_list.urls, strict=True)
            ],
        }
    )


def head_list_digest(head_list: HeadList) -> str:
    """Return the digest by which reports and estimates name this list."""
    digest: str = head_list_document(head_list)["digest"]
    return digest


def mechanism_name(head_list: HeadList) -> str:
    """Return the mechanism and its version as a report names them."""
    return f"{head_list.mechanism.name}/{head_list.mechanism.version}"


def read_head_list(path: Path | str) -> HeadList:
    """Read a published head list; refuse one that was edited or breaks a rule.

    Args:
        path: The path of ``head_list.json``.
    """
    return _listed_in(read_document(require_path("path", path), FORMAT))


def head_list_in(source: str, document: Mapping[str, Any]) -> HeadList:
    """Return the head list of a document that came from ``source``, with the same rules."""
    return _listed_in(verified(source, document, FORMAT))


def _listed_in(fields: Fields) -> HeadList:
    """Return the head list that these fields describe."""
    queries = fields.parts("queries")
    try:
        head_list = HeadList(
            queries=tuple(entry.text("query") for entry in queries),
            urls=tuple(entry.texts("urls") for entry in queries),
            mechanism=_read_mechanism(fields.part("mechanism"), MECHANISMS),
            private=fields.flag("private"),
            relay=_read_relay(fields),
            token_key=_read_token_key(fields),
        )
    except BrokenInvariantError as error:
        fields.refuse("queries", f"break a rule: {error}")
    if head_list_digest(head_list) != fields.text("digest"):
        # Reports name a list by the digest of its file: with another spelling all would be refused.
        fields.refuse("digest", "is not that of a list as this version writes it")
    return head_list


def _mechanism_document(mechanism: Mechanism) -> dict[str, Any]:
    document: dict[str, Any] = {"name": mechanism.name, "version": mechanism.version}
    for field in dataclasses.fields(mechanism):
        value = getattr(mechanism, field.name)
        # A decimal text keeps every digit; adding 0.0 writes -0.0 as 0.0.
        document[field.name] = repr(float(value) + 0.0) if field.type is float else value
    return document


def _read_relay(fields: Fields) -> ThroughRelay | None:
    """Return how relay clients report; lists without a relay do not say it."""
    if not fields.has("relay"):
        return None
    return _read_mechanism(fields.part("relay"), RELAY_MECHANISMS)


def _read_token_key(fields: Fields) -> str | None:
    """Return the key that signs tokens; lists whose reports need no token do not name one."""
    if not fields.has("token_key"):
        return None
    text = fields.text("token_key")
    if read_token_key(text) is None:
        fields.refuse("token_key", TOKEN_KEY_RULE)
    return text


def _read_mechanism(fields: Fields, kinds: Mapping[str, type[_Kind]]) -> _Kind:
    name = fields.text("name")
    known = [f"{kind.name}/{kind.version}" for kind in kinds.values()]
    if f"{name}/{fields.whole('version', at_least=0)}" not in known:
        fields.refuse("name and version", f"must be those of {' or '.join(known)}")
    kind = kinds[name]
    described: dict[str, Any] = {
        field.name: fields.decimal(field.name)
        if field.type is float
        else fields.whole(field.name, at_least=1)
        for field in dataclasses.fields(kind)
    }
    try:
        return kind(**described)
    except ParameterError as error:
        fields.refuse(error.name, "is outside its range")
