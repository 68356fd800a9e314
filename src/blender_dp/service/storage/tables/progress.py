"""Progress of a campaign: counts over its tables, which name no record."""

from uuid import UUID

from blender_dp.service.storage.database import Transaction
from blender_dp.service.storage.store import Progress
from blender_dp.service.storage.tables import campaigns, issued_tokens, jobs, relayed_rows


async def get(tx: Transaction, campaign_id: UUID) -> Progress:
    """Return the counts of a campaign."""
    number = await campaigns.number_of(tx, campaign_id)
    by_status = await _counts(
        tx, "SELECT status, count(*) FROM enrolments WHERE campaign = $1 GROUP BY status", number
    )
    by_question = await _counts(
        tx,
        "SELECT question, sum(reports) FROM counters WHERE campaign = $1 GROUP BY question",
        number,
    )
    return Progress(
        state=(await campaigns.get(tx, campaign_id)).state,
        enrolled=sum(by_status.values()),
        contributed=by_status.get("contributed", 0),
        withdrawn=by_status.get("withdrawn", 0),
        tokens=await issued_tokens.count(tx, number),
        record_reports=by_question.get("record", 0),
        query_reports=by_question.get("query", 0),
        refused=await _counts(
            tx, "SELECT reason, requests FROM refusals WHERE campaign = $1", number
        ),
        jobs=await jobs.of_campaign(tx, campaign_id),
        relayed=await relayed_rows.of_campaign(tx, number),
    )


async def _counts(tx: Transaction, statement: str, number: int) -> dict[str, int]:
    return {str(name): int(count) for name, count in await tx.rows(statement, number)}
