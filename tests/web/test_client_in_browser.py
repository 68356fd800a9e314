"""The published file of the browser client, in a real page and a real service worker."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from web.client_site import ROOT, SIGNED, ClientSite, running_site

pytestmark = pytest.mark.browser
RELEASE = json.dumps(
    json.loads((ROOT / "test_vectors" / "suggestions.json").read_text(encoding="utf-8"))["release"]
)
REPORT = """async ([campaign, publicKey, query, url]) => {
  const { BlenderClient, indexedDbStorage } = await import('/client.js');
  const service = location.origin;
  const client = new BlenderClient({ service, publicKey, storage: indexedDbStorage() });
  return [await client.report(campaign, { query, url }), await client.account()];
}"""
ASK_WORKER = """async (asked) => {
  await navigator.serviceWorker.register('/worker.js', { type: 'module' });
  const { active } = await navigator.serviceWorker.ready;
  const answer = new Promise((resolve) => {
    navigator.serviceWorker.onmessage = (event) => resolve(event.data);
  });
  active.postMessage({ ...asked, service: location.origin });
  return answer;
}"""
SEARCH = """async (release) => {
  const { LocalSearch } = await import('/client.js');
  const opened = LocalSearch.open(release);
  return opened.search.suggest('wether').map((one) => one.query);
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[ClientSite]:
    with running_site() as running:
        yield running


@pytest.fixture
def page(chromium: Browser, site: ClientSite) -> Iterator[Page]:
    complaints: list[str] = []
    context = chromium.new_context()
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(site.address)
    site.reports.clear()
    site.sent.clear()
    yield opened
    context.close()
    assert complaints == []


def report_from(page: Page, public_key: str = SIGNED["good"]["public_key"]) -> Any:
    asked = [SIGNED["campaign"], public_key, "query 17", "planted.example"]
    return page.evaluate(REPORT, asked)


def test_a_page_reports_once_and_keeps_its_ledger_over_a_reload(
    page: Page, site: ClientSite
) -> None:
    reported, account = report_from(page)
    assert reported["ok"], reported
    assert (reported["state"], account["spent"]) == ("sent", 4)
    page.reload()
    again, account = report_from(page)
    assert again == reported
    assert account["spent"] == 4
    assert [body.decode() for body in site.reports] == [reported["report"]]
    assert not any("query 17" in text or "planted" in text for text in site.sent)


def test_a_service_worker_shares_the_ledger_of_its_page(page: Page, site: ClientSite) -> None:
    reported, _ = report_from(page)
    key = SIGNED["good"]["public_key"]
    asked = {"publicKey": key, "campaign": SIGNED["campaign"], "release": RELEASE}
    answer = page.evaluate(ASK_WORKER, asked)
    assert answer["reported"] == reported
    assert len(site.reports) == 1
    assert answer["found"][0]["query"] == "weather"
    assert answer["found"][0]["isCorrection"]


def test_a_list_signed_by_another_key_is_refused_and_nothing_is_spent(
    page: Page, site: ClientSite
) -> None:
    reported, account = report_from(page, SIGNED["signed_by_another_key"]["public_key"])
    assert not reported["ok"]
    assert (account["spent"], account["entries"]) == (0, [])
    assert site.reports == []


def test_suggestions_come_without_a_network(page: Page) -> None:
    assert page.evaluate(SEARCH, RELEASE)[0] == "weather"
    page.context.set_offline(True)
    assert page.evaluate(SEARCH, RELEASE)[0] == "weather"


def test_the_ten_lines_of_the_how_to_report_and_suggest(page: Page, site: ClientSite) -> None:
    how_to = (ROOT / "docs" / "how-to" / "add-the-client-to-a-page.md").read_text(encoding="utf-8")
    block = re.search(r"^```js\n(.*?)^```$", how_to, re.MULTILINE | re.DOTALL)
    assert block
    code = block[1]
    assert code.count("\n") == 10
    assert SIGNED["campaign"] in code
    assert SIGNED["good"]["public_key"] in code
    site.files[f"/v1/campaigns/{SIGNED['campaign']}/release"] = ("text/plain", RELEASE.encode())
    code = code.replace("@blender-dp/client", "/client.js").replace(
        "https://collect.example", site.address
    )
    site.files["/ten-lines.js"] = ("text/javascript", (code + "export { shown };\n").encode())
    shown = page.evaluate("async () => (await import('/ten-lines.js')).shown")
    assert shown[0]["query"] == "weather"
    assert len(site.reports) == 1
