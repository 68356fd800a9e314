"""Page of counts: how many reports wait, were forwarded or destroyed; nothing else."""

from collections.abc import Sequence
from html import escape

from blender_dp.relay.storage.store import Batch, BatchState

STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1b1b; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid #767676; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; }
"""
_MEANING = {
    BatchState.WAITING: "reports wait until the campaign is sealed",
    BatchState.FORWARDING: "the batch is being sent",
    BatchState.FORWARDED: "the collector has the batch; nothing is left here",
    BatchState.DESTROYED: "the batch was destroyed; nothing is left here",
}
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>blender-dp relay</title>
<link rel="stylesheet" href="page.css">
<h1>Relay</h1>
<p>This relay keeps encrypted reports, which it cannot read. When a campaign is sealed, it sends
them to the collector in random order, all at once, or destroys them if they are too few. It stores
no address and no time.</p>
<p>Public key: <code>{key}</code></p>
<table>
<thead><tr><th scope="col">campaign</th><th scope="col">state</th><th scope="col">reports</th>
<th scope="col">smallest batch</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</html>
"""


def render_page(batches: Sequence[Batch], public_key: str) -> str:
    """Return the page."""
    rows = "\n".join(map(_row, batches)) or '<tr><td colspan="4">no campaign yet</td></tr>'
    return _PAGE.format(key=escape(public_key), rows=rows)


def _row(batch: Batch) -> str:
    return (
        f"<tr><td><code>{batch.campaign}</code></td>"
        f"<td>{batch.state}: {_MEANING[batch.state]}</td>"
        f'<td class="number">{batch.count:,}</td>'
        f'<td class="number">{batch.least_batch:,}</td></tr>'
    )
