"""Parameters of a run as part of a document: decimals are written as strings."""

from typing import Any, cast

from blender_dp.core.errors import ParameterError
from blender_dp.core.parameters import ListOf, Parameters, Preset
from blender_dp.wire.documents.fields import Fields

_DECIMALS = (
    *("epsilon", "delta", "estimation_share"),
    *("head_list_user_fraction", "query_budget_fraction"),
)


def parameters_document(parameters: Parameters) -> dict[str, Any]:
    """Return every parameter by name."""
    values = parameters.document()
    return {k: repr(float(cast("float", v))) if k in _DECIMALS else v for k, v in values.items()}


def read_parameters(fields: Fields) -> Parameters:
    """Read every parameter; refuse missing and unknown ones."""
    fields.only(*Parameters.__slots__)
    preset = cast("Preset", fields.text("preset"))  # Parameters refuses unknown values
    try:
        return Parameters(
            epsilon=fields.decimal("epsilon"),
            delta=fields.decimal("delta"),
            head_list_size=fields.whole_or_none("head_list_size", at_least=1),
            preset=preset,
            one_record_each=fields.flag("one_record_each"),
            list_of=_read_list_of(fields),
            estimation_share=_read_estimation_share(fields),
            head_list_user_fraction=fields.decimal("head_list_user_fraction"),
            query_budget_fraction=fields.decimal("query_budget_fraction"),
            records_per_optin_user=fields.whole("records_per_optin_user", at_least=1),
            records_per_client=fields.whole("records_per_client", at_least=1),
            project=fields.flag("project"),
        )
    except ParameterError as error:
        fields.refuse(error.name, "is outside its range")


def _read_list_of(fields: Fields) -> ListOf:
    """Return what was listed; documents say it only if it is not records."""
    if not fields.has("list_of"):
        return "records"
    if (found := fields.text("list_of")) == "records":
        fields.refuse("list_of", "must be left out if records are listed")
    return cast("ListOf", found)


def _read_estimation_share(fields: Fields) -> float | None:
    """Return η; documents name it only if it is not the usual one."""
    return fields.decimal("estimation_share") if fields.has("estimation_share") else None
