"""The form of a campaign: limits are said while one types, and no click makes a second campaign."""

import re

import pytest
from dashboard.conftest import OpenPage
from dashboard.live_service import LiveService, move, new_campaign
from dashboard.test_whole_campaign import SOON, fill_form
from playwright.sync_api import Route, expect

from blender_dp.service.http.access import Role

pytestmark = pytest.mark.browser


def made(service: LiveService, name: str) -> list[str]:
    """Return the ids of the campaigns with this name."""
    with service.http as http:
        found = http.get("/campaigns", params={"limit": 1000}).json()["campaigns"]
    return [one["id"] for one in found if one["name"] == name]


def a_draft(service: LiveService, name: str) -> str:
    with service.http as http:
        return str(http.post("/campaigns", json=new_campaign(name)).json()["id"])


@pytest.mark.parametrize(
    ("label", "wrong", "sentence", "right"),
    [
        ("Name", "n" * 201, "At most 200 are possible.", "Searches"),
        ("ε", "65", "at most 64", "4"),
        ("ε", "9", "Most devices will not take part", "8"),
        ("δ", "2", "δ must be between 0 and 1.", "1e-6"),
        ("Privacy policy", "library.example", "begins with https://", "https://a.example/"),
        ("Privacy policy", "https://a@b.example", "without a user name", "https://a.example/"),
        ("Who collects", "A\u202eB", "a sign that nobody sees", "A town library"),
        ("Purpose", "one\n\u2066two", "a sign that nobody sees", "one\ntwo"),
        ("Seal the opt-in side at", "2020-01-01T00:00", "This time is over.", "2126-01-01T00:00"),
    ],
)
def test_a_limit_is_said_while_one_types_and_goes_away_when_mended(
    open_page: OpenPage, label: str, wrong: str, sentence: str, right: str
) -> None:
    page = open_page("#/new")
    field = page.get_by_label(label, exact=True)
    expect(page.get_by_text("δ is large")).to_have_count(0)
    field.fill(wrong)
    expect(page.get_by_text(sentence)).to_be_visible()
    expect(field).to_have_accessible_description(re.compile(re.escape(sentence)))
    field.fill(right)
    expect(page.get_by_text(sentence)).to_have_count(0)


def test_what_is_missing_is_said_at_its_field_and_goes_away_when_filled(
    open_page: OpenPage,
) -> None:
    page = open_page("#/new")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("alert")).to_contain_text("6 fields need your attention")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description("Please fill this in.")
    fill_form(page, "Mended")
    expect(page.get_by_text("Please fill this in.")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_refusal_of_the_service_is_said_at_its_field(open_page: OpenPage) -> None:
    page = open_page("#/new")
    fill_form(page, "Refused")
    page.get_by_label("δ").fill("0.9")  # this service allows 0.5
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_text("The service does not allow a δ as large as this.")).to_be_visible()
    expect(page.get_by_text("$.")).to_have_count(0)
    page.get_by_label("δ").fill("1e-6")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_three_clicks_on_a_slow_network_make_one_campaign(
    open_page: OpenPage, service: LiveService
) -> None:
    page = open_page("#/new")
    fill_form(page, "Clicked three times")
    held: list[Route] = []
    methods: list[str] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.on("request", lambda request: methods.append(request.method))
    page.route("**/v1/campaigns/*", hold, times=1)
    page.get_by_role("button", name="Create the draft").click()
    saving = page.get_by_role("button", name="Saving …")
    expect(saving).to_be_visible()
    saving.click(force=True)
    saving.click(force=True)
    # What is typed now would not be in what is being saved.
    assert page.get_by_label("Name", exact=True).evaluate("(field) => field.closest('[inert]')")
    held[0].continue_()
    expect(page.get_by_role("heading", name="Clicked three times", level=1)).to_be_visible()
    assert methods.count("PUT") == 1
    assert len(made(service, "Clicked three times")) == 1


def test_a_lost_answer_and_another_click_make_one_campaign(
    open_page: OpenPage, service: LiveService
) -> None:
    page = open_page("#/new")
    fill_form(page, "Lost")

    def lose(route: Route) -> None:
        route.fetch()
        route.fulfill(status=503, json={"title": "The way to the service is broken."})

    page.route("**/v1/campaigns/*", lose, times=1)
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("alert")).to_contain_text("The way to the service is broken.")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("heading", name="Lost", level=1)).to_be_visible()
    assert len(made(service, "Lost")) == 1


def test_a_draft_is_edited_until_it_is_opened(open_page: OpenPage, service: LiveService) -> None:
    campaign = a_draft(service, "Before")
    page = open_page(f"#/campaigns/{campaign}")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Who collects")).to_have_value("A town library")
    page.get_by_label("Name", exact=True).fill("After")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_role("heading", name="After", level=1)).to_be_visible()
    move(service, campaign, "open-opt-in", "draft")
    expect(page.get_by_role("link", name="Edit")).to_have_count(0, timeout=SOON)
    page.goto(page.url.partition("#")[0] + f"#/edit/{campaign}")
    expect(page.get_by_text("cannot change any more")).to_be_visible()


def test_a_relay_is_filled_in_under_its_fold_and_shown(open_page: OpenPage) -> None:
    page = open_page("#/new")
    fill_form(page, "With a relay")
    address = page.get_by_label("Address of the relay")
    expect(address).to_be_hidden()
    page.get_by_text("Reports through a relay").click()
    address.fill("https://relay.example/?a=1")
    expect(page.get_by_text("without a name, ? or #")).to_be_visible()
    address.fill("https://relay.example")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("alert")).to_contain_text("2 fields need your attention")
    key = page.get_by_label("Public key of the relay")
    expect(key).to_be_focused()
    key.fill("A" * 43)
    page.get_by_label("Least batch").fill("20000")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("heading", name="With a relay", level=1)).to_be_visible(timeout=SOON)
    expect(page.get_by_text("at least 20,000 reports; the release waits")).to_be_visible()
    expect(page.get_by_text("https://relay.example/", exact=True)).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    expect(address).to_have_value("https://relay.example/")  # open, because it is filled in


def test_a_prediction_knows_the_list_of_a_campaign_before(open_page: OpenPage) -> None:
    page = open_page("#/new")
    page.get_by_label("Opt-in users expected").fill("2000")
    page.get_by_label("Clients expected").fill("20000")
    predict, note = page.get_by_role("button", name="Predict"), page.locator("aside .footnote")
    predict.click()
    expect(note).to_contain_text("Imagined 2 times", timeout=SOON)
    expect(note).not_to_contain_text("taken for known")
    before = page.get_by_label("Campaign before this one")
    before.fill("3f9e1c52-0b57-4b8e-8f5b-6a2f3d1c7e90")
    expect(page.get_by_text("The form has changed since")).to_be_visible()
    predict.click()
    expect(note).to_contain_text("The list of an earlier collection of the same kind is taken for")


def test_an_edit_does_not_undo_that_of_another_operator(
    open_page: OpenPage, service: LiveService
) -> None:
    campaign = a_draft(service, "Shared")
    page = open_page(f"#/edit/{campaign}")
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value("Shared")
    with service.http as http:
        read = http.get(f"/campaigns/{campaign}").headers["etag"]
        theirs = new_campaign("Theirs") | {"query_name": "product"}
        http.put(f"/campaigns/{campaign}", json=theirs, headers={"if-match": read})
    name.fill("Mine")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Somebody else saved this draft")).to_be_visible()
    assert (made(service, "Mine"), made(service, "Theirs")) == ([], [campaign])
    page.get_by_role("button", name="Show the draft as it is now").click()
    expect(name).to_have_value("Theirs")
    expect(page.get_by_label("What a query is called")).to_have_value("product")
    name.fill("Both")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_role("heading", name="Both", level=1)).to_be_visible()
    with service.http as http:
        assert http.get(f"/campaigns/{campaign}").json()["query_name"] == "product"


def test_an_earlier_campaign_is_duplicated(
    open_page: OpenPage, service: LiveService, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}")
    page.get_by_role("link", name="Duplicate").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Summer")
    page.get_by_label("Name", exact=True).fill("Winter")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_role("heading", name="Winter", level=1)).to_be_visible()
    (campaign,) = made(service, "Winter")
    with service.http as http:
        one, other = (http.get(f"/campaigns/{which}").json() for which in (campaign, released[0]))
    for part in ("purpose", "consent", "parameters", "controller", "contact", "expected_clients"):
        assert one[part] == other[part]


def test_after_a_release_the_first_button_shows_it(
    open_page: OpenPage, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}")
    card = page.get_by_role("region", name="State")
    expect(card.locator(".button").first).to_have_text("See the release")
    expect(card.get_by_role("button", name="Purge")).to_have_count(0)
    expect(card.get_by_role("listitem").last).to_have_text("Released")
    card.get_by_role("link", name="See the release").click()
    expect(page.get_by_role("heading", name="Every promise is kept.")).to_be_visible()


def test_a_visitor_signs_in_and_comes_back(
    open_page: OpenPage, service: LiveService, released: tuple[str, str]
) -> None:
    page = open_page(f"#/campaigns/{released[0]}/privacy", role=None)
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("API token").fill(service.tokens[Role.OPERATOR])
    page.get_by_role("button", name="Sign in").click()
    expect(
        page.get_by_role("heading", name="What happens with what you search for")
    ).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_campaign_with_tokens_is_made_and_shown_as_such(
    open_page: OpenPage, service: LiveService
) -> None:
    page = open_page("#/new")
    fill_form(page, "Counted once")
    expect(page.get_by_text("Nobody needs a token.")).to_be_visible()
    expect(page.get_by_label("Address of another issuer")).to_have_count(0)
    page.get_by_text("with token", exact=True).click()
    expect(page.get_by_text("A token shows that a report is from one person.")).to_be_visible()
    issuer = page.get_by_label("Address of another issuer")
    issuer.fill("ftp://issuer.example/")
    expect(page.get_by_text("This must be a web address")).to_be_visible()
    issuer.fill("")
    page.get_by_role("button", name="Create the draft").click()
    expect(page.get_by_text("Report tokens come from")).to_be_visible()
    expect(page.get_by_text("this service, one for each enrolment")).to_be_visible()
    expect(page.get_by_text("or send one report")).to_be_visible()
    [made_one] = made(service, "Counted once")
    with service.http as http:
        assert http.get(f"/campaigns/{made_one}").json()["reports"] == "token"
    edited = open_page(f"#/edit/{made_one}")
    expect(edited.get_by_role("radio", name="with token")).to_be_checked()
    statement = open_page(f"#/campaigns/{made_one}/privacy", role=None)
    expect(statement.get_by_text("With your report goes a token")).to_be_visible()
