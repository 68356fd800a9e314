"""The privacy label says what was promised, in a picture whose text stays inside."""

import xml.etree.ElementTree as ET

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from pages.disclosure.conftest import ANSWERED, PARAMETERS, popular_log

import blender_dp as bdp

SVG = "{http://www.w3.org/2000/svg}"


def shown(svg: str) -> tuple[ET.Element, str]:
    """Return the picture, and its lines as one text."""
    picture = ET.fromstring(svg)  # noqa: S314 - made here
    words = " ".join(line.text or "" for line in picture.iter(f"{SVG}text"))
    return picture, words.replace("\u00a0", " ")


@pytest.mark.parametrize("kind", ["sharp", "paper", "relay"])
def test_no_line_leaves_the_frame_in_a_wide_font(
    results: dict[str, bdp.RunResult], kind: str
) -> None:
    picture, _ = shown(bdp.certify(results[kind]).label(ANSWERED))
    room = float(picture.attrib["width"]) - 24
    for line in picture.iter(f"{SVG}text"):
        font = FontProperties(family="DejaVu Sans", weight=line.get("font-weight", "normal"))
        path = TextPath((0, 0), line.text or " ", size=float(line.attrib["font-size"]), prop=font)
        assert float(line.attrib["x"]) + path.get_extents().x1 < room, line.text
        assert float(line.attrib["y"]) < float(picture.attrib["height"])


def test_every_group_has_its_limit_in_words_and_numbers(results: dict[str, bdp.RunResult]) -> None:
    picture, words = shown(bdp.certify(results["relay"]).label(ANSWERED))
    for said in (
        "Library of Example & Sons",
        "3,000 people",
        "900 people who opted in",
        "1,050 people who sent a private report",
        "1,050 people who reported through the relay As long as",
        "If the relay and the organisation work together",
        "Any guess about you becomes at most 21 times more likely.",
        "This limit may fail with a chance of at most 1 in 1,000.",
        "This limit never fails.",
        "Promised: ε = 3, δ = 0.001. Cost if a person's data are exchanged: ε = ",
        "if they are added or removed: ε =",
        "The organisation had their records in a log.",
    ):
        assert said in words, said
    described = picture.find(f"{SVG}desc")
    assert described is not None
    assert "900 people who opted in" in (described.text or "")


def test_a_list_without_a_result_has_a_label_too(results: dict[str, bdp.RunResult]) -> None:
    _, words = shown(bdp.certify(results["sharp"].head_list, PARAMETERS).label())
    assert "Nobody saw their records. Their device sent one scrambled report." in words
    assert "published" not in words.split("Not hidden")[0].replace("What it published", "")


def test_an_experiment_has_no_label() -> None:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    with pytest.warns(bdp.PromiseWarning, match="δ"):
        result = bdp.run(pa.table(popular_log()), PARAMETERS, opt_in=0.3, seed=1)
    with pytest.raises(bdp.BlenderError, match="made with a seed"):
        bdp.certify(result).label()
