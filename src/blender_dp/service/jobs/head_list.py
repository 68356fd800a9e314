"""Head-list job: computes the published list from the opt-in users' records.

The records are decrypted here, in memory only. If the job runs twice, after a crash or on a
restored database, the same records get the same noise (``one_draw``). The key vault records the
digest of the result before anything is stored, and refuses another result: a campaign has at most
one noisy list.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from blender_dp.core.blender import PRESETS, Curated, curate, with_relay
from blender_dp.core.certificate.certificate import Certificate, require_kept
from blender_dp.core.certificate.certify import certify_curated, certify_plan
from blender_dp.core.certificate.list_certificate import ListCertificate
from blender_dp.core.errors import BrokenPromiseError
from blender_dp.core.exact.randomness import Randomness
from blender_dp.core.head_list.known_list import NOTHING_KNOWN, KnownList
from blender_dp.core.parameters import Parameters
from blender_dp.engine.population.group_sizes import FEWEST_OPT_IN
from blender_dp.service.campaign import Campaign, Move, Reports
from blender_dp.service.campaign_relay import drawn_parameters
from blender_dp.service.dependencies import Dependencies
from blender_dp.service.jobs.failures import Failure, JobError
from blender_dp.service.keys.encrypted_records import make_decrypter
from blender_dp.service.keys.key_vault import (
    DrawnAlreadyError,
    KeyDestroyedError,
    KeyVault,
    Purpose,
    relayed_reports_key,
    report_tokens_key,
)
from blender_dp.service.keys.one_draw import Fingerprint
from blender_dp.service.storage.store import Document, JobResult
from blender_dp.service.storage.store_population import ContributedRows, contributed_users
from blender_dp.wire.documents.document import canonical, digest_of
from blender_dp.wire.documents.strict_json import read_object
from blender_dp.wire.published.certificate import certificate_document
from blender_dp.wire.published.estimates import opt_in_document
from blender_dp.wire.published.head_list import head_list_document
from blender_dp.wire.published.known_list import known_from
from blender_dp.wire.published.release import release_of
from blender_dp.wire.relayed.encrypted_report import encryption_key_of
from blender_dp.wire.relayed.listed_relay import ListedRelay
from blender_dp.wire.service.hash_chain import PublicKind
from blender_dp.wire.service.signed_head_list import signed_head_list_document
from blender_dp.wire.tokens.token_key import TokenKey

_Sign = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], bytes]
"""Signs a published list, given its entries in the log."""
_Noise = Callable[[Parameters, Certificate], Randomness]
"""Derives the source of noise from the parameters of the draw and the certificate of its plan."""


async def make_head_list(dependencies: Dependencies, campaign: Campaign) -> JobResult:
    """Find the list, estimate its records, certify both, and return all published documents."""
    release = await _known_release(dependencies, campaign)
    try:
        rows, noise = await _decrypt(dependencies, campaign, release)
    except KeyDestroyedError:
        raise JobError(Failure.KEY_DESTROYED) from None
    if rows.contributors < FEWEST_OPT_IN:
        raise JobError(Failure.TOO_FEW_OPT_IN_USERS)
    description = digest_of(await dependencies.store.description(campaign.id))
    curated, certificate = await asyncio.to_thread(
        partial(_compute, rows, campaign, noise, dependencies.keys, known=_known_in(release))
    )
    keys = dependencies.keys
    relay = await asyncio.to_thread(_listed_relay, keys, campaign)
    sign = partial(_sign, campaign, description, keys.signing_key(), relay)
    return await asyncio.to_thread(_make_result, curated, certificate, sign)


async def _known_release(dependencies: Dependencies, campaign: Campaign) -> bytes | None:
    """Return the release whose records are known; a release is never deleted."""
    if campaign.known is None:
        return None
    return await dependencies.store.document(campaign.known, Document.RELEASE)


def _known_in(release: bytes | None) -> KnownList:
    if release is None:
        return NOTHING_KNOWN
    return known_from(release_of(read_object("release", release), "release"))


async def _decrypt(
    dependencies: Dependencies, campaign: Campaign, release: bytes | None
) -> tuple[ContributedRows, _Noise]:
    """Return all records, and what derives their noise."""
    rows, fingerprint = ContributedRows(), Fingerprint(campaign)
    if release is not None:
        fingerprint.add_known(release)
    records_of = make_decrypter(dependencies.keys, campaign.id)
    async for some in dependencies.store.contributions(campaign.id):
        for contribution in some:
            records = records_of(contribution)
            fingerprint.add(contribution.enrolment, records)
            rows.add(records)
    key = dependencies.keys.key(campaign.id, Purpose.RECORDS)
    return rows, partial(fingerprint.randomness, key)


def _compute(
    rows: ContributedRows,
    campaign: Campaign,
    noise: _Noise,
    keys: KeyVault,
    *,
    known: KnownList,
) -> tuple[Curated, ListCertificate]:
    token_key = _token_key(keys, campaign)
    curated, certificate = _curate(rows, campaign, noise, known, token_key=token_key)
    drawn = canonical(opt_in_document(curated))  # names the digest of the list
    try:
        keys.record_draw(campaign.id, hashlib.sha256(drawn).digest())
    except DrawnAlreadyError:
        raise JobError(Failure.DRAWN_ALREADY) from None
    if not curated.head_list.queries:  # recorded although it failed: it was computed with noise
        raise JobError(Failure.EMPTY_HEAD_LIST)
    return curated, certificate


def _token_key(keys: KeyVault, campaign: Campaign) -> str | None:
    """Return the key of the campaign's report tokens, which is made here unless others issue."""
    if campaign.reports is not Reports.TOKEN:
        return None
    if campaign.issuer is not None:
        return campaign.issuer.public_key
    return TokenKey(report_tokens_key(keys, campaign.id).public_key()).text


def _curate(
    rows: ContributedRows,
    campaign: Campaign,
    noise: _Noise,
    known: KnownList,
    *,
    token_key: str | None,
) -> tuple[Curated, ListCertificate]:
    relay = campaign.relay
    parameters = drawn_parameters(campaign.parameters, relay, opt_in_users=rows.contributors)
    try:
        PRESETS[parameters.preset].require_provable(parameters)
        randomness = noise(parameters, require_kept(certify_plan(parameters)))
        with contributed_users(rows, parameters, randomness) as users:
            curated = curate(
                users,
                parameters,
                randomness,
                clients=campaign.expected_clients,
                known=known,
            )
        if relay:
            curated = with_relay(curated, clients=relay.least_batch, rules=relay.rules)
        head_list = replace(curated.head_list, token_key=token_key)
        curated = replace(curated, head_list=head_list)
        return curated, require_kept(certify_curated(curated))
    except BrokenPromiseError:
        raise JobError(Failure.PROMISE_BROKEN) from None


def _sign(
    campaign: Campaign,
    description: str,
    key: Ed25519PrivateKey,
    relay: ListedRelay | None,
    published: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
) -> bytes:
    document = signed_head_list_document(
        published,
        entries[0],
        campaign=campaign.id,
        description=description,
        key=key,
        relay=relay,
    )
    return canonical(document)


def _listed_relay(keys: KeyVault, campaign: Campaign) -> ListedRelay | None:
    """Return the relay with the key for its reports, which is made here; None without a relay."""
    if campaign.relay is None:
        return None
    return ListedRelay(
        address=campaign.relay.address,
        public_key=campaign.relay.public_key,
        encryption_key=encryption_key_of(relayed_reports_key(keys, campaign.id)),
    )


def _make_result(curated: Curated, certificate: ListCertificate, sign: _Sign) -> JobResult:
    head_list = curated.head_list
    published = head_list_document(head_list)
    return JobResult(
        move=Move.PUBLISH_LIST,
        documents={
            Document.HEAD_LIST: partial(sign, published),
            Document.OPT_IN_ESTIMATES: canonical(opt_in_document(curated)),
            Document.CERTIFICATE: canonical(certificate_document(certificate)),
        },
        log_entries=[{"kind": PublicKind.HEAD_LIST, "digest": published["digest"]}],
        counter_sizes={
            "record": head_list.cells.cell_count,
            "query": head_list.cells.query_count,
        },
    )
