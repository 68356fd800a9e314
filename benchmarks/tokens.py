"""Report tokens: how many one core issues and redeems per second, next to the store.

Each rate stands beside what it cannot do without, measured in the same process: redeeming beside
the check of the signature and reports that need no token, issuing beside the signature. Rates are
per second of this process's processor time, which varies less than the clock with what else the
machine does; PostgreSQL's own time is not in it. What is acknowledged is on disk.
"""

import asyncio
import hashlib
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA384
from service.token_holders import tokens_signed_by

from benchmarks.goals import Goal, keep_rows
from benchmarks.service import campaign
from blender_dp.core.head_list.head_list import HeadList
from blender_dp.core.local_alg.device import LocalRandomizer
from blender_dp.service.campaign import Reports
from blender_dp.service.http.reports.intake import ReportIntake
from blender_dp.service.storage.open_store import open_store
from blender_dp.wire.documents.document import canonical
from blender_dp.wire.reports.packed_items import to_text
from blender_dp.wire.reports.report import report_document
from blender_dp.wire.reports.report_files import shared_fields
from blender_dp.wire.reports.service_report import (
    ID_BYTES,
    ID_FIELD,
    TOKEN_FIELD,
    question_of,
    report_id_of,
)
from blender_dp.wire.tokens.blind_signer import BlindSigner, draw_signing_key, read_signing_key
from blender_dp.wire.tokens.report_token import TokenRules, TokenSecret, blinded_message_in
from blender_dp.wire.tokens.token_key import TokenKey
from postgres_server import running_postgres

BATCH, BATCHES = 1_000, 6
SINGLES, ISSUED = 3_000, 2_000
LEAST_REDEEMED, LEAST_ISSUED = 3_000, 100
LEAST_SHARE = 0.5
"""Of the rate of the parts alone: what is around them costs no more than they do."""
_AT_ONCE = 64
_DRAWN = 100
"""Reports that are sent again and again, with other ids and tokens."""
Rates = Mapping[str, float]
Sent = TypeVar("Sent")
_random = Random()  # noqa: S311 - of reports that nobody made


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuance:
    """A key for tokens, the campaign that it is for, and its list."""

    private: RSAPrivateKey
    rules: TokenRules
    published: HeadList

    @property
    def open_list(self) -> HeadList:
        """The same list, for reports without tokens."""
        return replace(self.published, token_key=None)


def main() -> None:
    """Measure both stores and keep the rows."""
    goals = measured("SQLite")
    with running_postgres(is_durable=True) as server:
        goals += measured("PostgreSQL", asyncio.run(server.fresh_database()))
    keep_rows("report tokens", "make tokens", goals)
    for goal in goals:
        print(f"{goal.what}: {goal.measured:,.2f} {goal.unit}")


def measured(name: str, database: str | None = None) -> list[Goal]:
    """Measure one store; SQLite in a temporary directory unless an address is given."""
    with tempfile.TemporaryDirectory() as directory:
        address = database or str(Path(directory) / "service.sqlite")
        private = read_signing_key(draw_signing_key())
        key = TokenKey(private.public_key())
        published = replace(campaign.head_list("sharp"), token_key=key.text)
        collecting = campaign.collecting(Path(directory), address, published, Reports.TOKEN)
        issuance = Issuance(private=private, rules=TokenRules(key, collecting), published=published)
        return asyncio.run(_measured(name, address, issuance))


async def _measured(name: str, address: str, issuance: Issuance) -> list[Goal]:
    goals = list[Goal]()
    for how, count, each in (
        (f"batches of {BATCH:,}", BATCH * BATCHES, BATCH),
        ("one by one", SINGLES, 1),
    ):
        rates = await _redeemed(address, issuance, count, each)
        others = f"{rates['alone']:,.0f} signatures alone, {rates['open']:,.0f} without tokens"
        what = f"{name}, {how}: reports with tokens taken ({others})"
        goals += _goals(what, rates, LEAST_REDEEMED)
    rates = await _issued(address, issuance)
    others = f"{rates['alone']:,.0f} signatures alone, {rates['OpenSSL']:,.0f} by OpenSSL"
    return [*goals, *_goals(f"{name}: tokens issued ({others})", rates, LEAST_ISSUED)]


def _goals(what: str, rates: Rates, least: float) -> Sequence[Goal]:
    """Return the goals of a rate and of its share of what its parts alone would reach."""
    parts = [part for part in ("alone", "open") if part in rates]
    bound = 1 / sum(1 / rates[part] for part in parts)
    of = "signatures and reports without tokens" if "open" in parts else "signatures"
    against = f"{what.partition(' (')[0]}, against {of} alone"
    return [
        Goal(what=what, measured=rates["whole"], unit="per s of CPU", at_least=least),
        Goal(what=against, measured=rates["whole"] / bound, at_least=LEAST_SHARE),
    ]


async def _redeemed(address: str, issuance: Issuance, count: int, each: int) -> Rates:
    tokens = tokens_signed_by(issuance.private, issuance.rules, count)
    ids = [os.urandom(ID_BYTES) for _ in range(count)]
    rates = {"alone": _alone(lambda: issuance.rules.are_valid(tokens), count)}
    with_token = ReportIntake(issuance.published, bytes(32), issuance.rules)
    without = ReportIntake(issuance.open_list, bytes(32))
    for name, intake, bodies in (
        ("open", without, [*_bodies(issuance.open_list, ids, each)]),
        ("whole", with_token, [*_bodies(issuance.published, tokens, each)]),
    ):
        store = await open_store(address)

        async def take(body: bytes, intake: ReportIntake = intake) -> None:
            added = await store.add_reports(issuance.rules.campaign, intake.check(body))  # noqa: B023
            assert added.accepted == each

        rates[name] = await _rate(take, bodies, count)
        await store.close()
    return rates


async def _issued(address: str, issuance: Issuance) -> Rates:
    """Do what the route does with each request, after its body is parsed."""
    key, signer = issuance.rules.key, BlindSigner(issuance.private)
    secrets = [TokenSecret.draw(key) for _ in range(ISSUED)]
    requests = [issuance.rules.request(secret) for secret in secrets]
    blinded = [blinded_message_in(request, key) for request in requests]
    enrolments = [os.urandom(32) for _ in requests]
    store = await open_store(address)
    await store.add_enrolments(issuance.rules.campaign, enrolments)

    async def issue(asked: tuple[bytes, bytes]) -> None:
        enrolment, request = asked
        message = blinded_message_in(request, key)
        signer.require_signable(message)
        digest = hashlib.sha256(message).digest()
        await store.issue_token(issuance.rules.campaign, enrolment, digest)
        await asyncio.get_running_loop().run_in_executor(threads, signer.sign, message)

    padding, digest = PSS(MGF1(SHA384()), 48), SHA384()
    with ThreadPoolExecutor(2) as threads:
        rates = {
            "alone": _alone(lambda: [signer.sign(one) for one in blinded], ISSUED),
            "OpenSSL": _alone(
                lambda: [issuance.private.sign(one, padding, digest) for one in blinded], ISSUED
            ),
            "whole": await _rate(issue, [*zip(enrolments, requests, strict=True)], ISSUED),
        }
    await store.close()
    return rates


def _alone(work: Callable[[], object], count: int) -> float:
    began = time.process_time()
    assert work()
    return count / (time.process_time() - began)


async def _rate(send: Callable[[Sent], Awaitable[None]], sent: Sequence[Sent], count: int) -> float:
    """Return reports or tokens per second of processor time, with several requests at once."""
    left = iter(sent)

    async def one_after_the_other() -> None:
        for one in left:
            await send(one)

    began = time.process_time()
    await asyncio.gather(*(one_after_the_other() for _ in range(_AT_ONCE)))
    return count / (time.process_time() - began)


def _bodies(head_list: HeadList, names: Sequence[bytes], each: int) -> Iterator[bytes]:
    """Yield requests of honest reports, which are named by their ids or their tokens."""
    device, drawn = LocalRandomizer(head_list), defaultdict[str, list[dict[str, Any]]](list)
    for _ in range(_DRAWN):
        report = device.report(None, None)
        drawn[report.question].append(report_document(head_list, report))
    shared, reports = shared_fields(head_list), list[dict[str, Any]]()
    field, id_of = (ID_FIELD, bytes) if head_list.token_key is None else (TOKEN_FIELD, report_id_of)
    for name in names:
        document = _random.choice(drawn[question_of(id_of(name), head_list)])
        own = {field: value for field, value in document.items() if field not in shared}
        reports.append({**own, field: to_text(name)})
    for start in range(0, len(reports), each):
        some = reports[start : start + each]
        yield canonical(shared | ({"reports": some} if each > 1 else some[0]))


if __name__ == "__main__":
    main()
