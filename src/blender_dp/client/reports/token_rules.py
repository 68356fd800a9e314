"""Rules for reports with tokens: the list and the description must say the same about them."""

from blender_dp.client.policy import RefusedError, Rule
from blender_dp.wire.service.campaign_promise import CampaignPromise


def require_described_tokens(token_key: str | None, promise: CampaignPromise) -> None:
    """Refuse a list whose reports need a token against the description, or of another key.

    Args:
        token_key: The ``token_key`` of the list.
        promise: The campaign's current description.
    """
    if (token_key is not None) != promise.needs_token:
        sentence = "the head list and the campaign's description must both ask for tokens, or none"
        raise RefusedError(Rule.TOKEN, sentence)
    if promise.issuer is not None and promise.issuer.public_key != token_key:
        sentence = "the head list names another key of the tokens than the description"
        raise RefusedError(Rule.TOKEN, sentence)
