"""Signed lists of campaigns and the checks of their reports, loaded once per process."""

import asyncio
import gzip
from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from blender_dp.server.problems import RETRY_SECONDS, Problem
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.http.reports.intake import ReportIntake
from blender_dp.service.keys.key_vault import (
    KeyDestroyedError,
    KeysGoneError,
    Purpose,
    report_tokens_key,
)
from blender_dp.service.storage.store import Document
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.published.head_list import head_list_in
from blender_dp.wire.relayed.encrypted_report import ReportEncryption
from blender_dp.wire.tokens.blind_signer import BlindSigner
from blender_dp.wire.tokens.report_token import token_rules
from blender_dp.wire.tokens.token_key import TokenKey

Key = TypeVar("Key")
Kept = TypeVar("Kept")
_MOST_CAMPAIGNS = 32
_STORED = "the stored head list"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedList:
    """A signed list as the bytes that every client gets."""

    body: bytes
    compressed: bytes
    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEncryption:
    """What a relay's batch must keep to: the digest of the list, and the length of a report."""

    digest: str
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSigner:
    """Who signs a campaign's report tokens, with the key that its list names."""

    key: TokenKey
    signer: BlindSigner


class PublishedLists:
    """Cache of the lists in use, each with the intake that checks its reports."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._lists: OrderedDict[UUID, PublishedList] = OrderedDict()
        self._intakes: OrderedDict[str, ReportIntake] = OrderedDict()
        self._encryptions: OrderedDict[UUID, ListedEncryption] = OrderedDict()
        self._signers: OrderedDict[UUID, ListedSigner] = OrderedDict()

    async def get(self, campaign_id: UUID) -> PublishedList:
        """Return the signed list of a campaign."""
        found = self._lists.get(campaign_id)
        if found is None:
            body = await self._read(campaign_id)
            if body is None:
                raise Problem.NOT_PUBLISHED.error()
            digest = read_object(_STORED, body)["head_list"]["digest"]
            compressed = gzip.compress(body, mtime=0)
            found = PublishedList(body=body, compressed=compressed, etag=f'"{digest}"')
            _keep(self._lists, campaign_id, found)
        return found

    def known_intake(self, campaign_id: str) -> ReportIntake | None:
        """Return the intake of a campaign if it is in the cache."""
        return self._intakes.get(campaign_id)

    async def intake(self, campaign_id: UUID) -> ReportIntake:
        """Return the intake of a campaign; load its list if needed."""
        body = await self._read(campaign_id)
        if body is None:
            raise Problem.NOT_COLLECTING.error()
        try:
            key = self._dependencies.keys.key(campaign_id, Purpose.REPORT_TAGS)
        except KeyDestroyedError:
            raise Problem.NOT_COLLECTING.error() from None
        except KeysGoneError:
            raise Problem.KEYS_GONE.error(retry_after=RETRY_SECONDS) from None
        head_list = head_list_in(_STORED, read_object(_STORED, body)["head_list"])
        intake = ReportIntake(head_list, key, token_rules(head_list, campaign_id))
        _keep(self._intakes, str(campaign_id), intake)
        return intake

    async def encryption(self, campaign_id: UUID) -> "ListedEncryption":
        """Return the encryption of a campaign's relayed reports; load its list if needed."""
        found = self._encryptions.get(campaign_id)
        if found is None:
            body = await self._read(campaign_id)
            if body is None:
                raise Problem.NOT_COLLECTING.error()
            published = read_object(_STORED, body)["head_list"]
            digest = str(published["digest"])
            head_list = head_list_in(_STORED, published)
            encryption = ReportEncryption(head_list, campaign=campaign_id, digest=digest)
            found = ListedEncryption(digest=digest, length=encryption.length)
            _keep(self._encryptions, campaign_id, found)
        return found

    async def signer(self, campaign_id: UUID) -> "ListedSigner":
        """Return the signer of a campaign's report tokens; load its key if needed."""
        found = self._signers.get(campaign_id)
        if found is None:
            body = await self._read(campaign_id)
            if body is None:
                raise Problem.NOT_COLLECTING.error()
            named = read_object(_STORED, body)["head_list"].get("token_key")
            found = await asyncio.to_thread(self._load_signer, campaign_id, named)
            _keep(self._signers, campaign_id, found)
        return found

    def _load_signer(self, campaign_id: UUID, named: str | None) -> "ListedSigner":
        try:
            private = report_tokens_key(self._dependencies.keys, campaign_id)
        except KeyDestroyedError:
            raise Problem.NOT_COLLECTING.error() from None
        except KeysGoneError:
            raise Problem.KEYS_GONE.error(retry_after=RETRY_SECONDS) from None
        key = TokenKey(private.public_key())
        if key.text != named:  # the keys were lost and this one was made just now
            raise Problem.KEYS_GONE.error(retry_after=RETRY_SECONDS)
        return ListedSigner(key=key, signer=BlindSigner(private))

    async def _read(self, campaign_id: UUID) -> bytes | None:
        return await self._dependencies.store.document(campaign_id, Document.HEAD_LIST)


def _keep(kept: OrderedDict[Key, Kept], key: Key, value: Kept) -> None:
    kept[key] = value
    while len(kept) > _MOST_CAMPAIGNS:
        kept.popitem(last=False)
