"""What each adapter asks of its package and makes of the answer, where there is no noise."""

import math
import sys
from typing import Any

import numpy as np
import pytest
from peers import noiseless_packages
from peers.small_tasks import small_task

from benchmarks.peers import (
    multi_freq_ldpy,
    pipeline_dp,
    pure_ldp,
    pure_ldp_heavy_hitters,
)
from benchmarks.peers.catalogue import PEERS, installed, methods
from benchmarks.peers.task import Peer
from blender_dp.core.errors import MissingExtraError

OPT_IN, CLIENTS = [0, 0, 5], [1, 2, 3, 4, 2, 2, 2]
SHARES = {0: 0.2, 1: 0.1, 2: 0.4, 3: 0.1, 4: 0.1}
"""Of ten users, one of them without a record."""


def stand_in(monkeypatch: pytest.MonkeyPatch, modules: dict[str, Any]) -> None:
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name.partition(".")[0], module)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("peer", pure_ldp.PEERS + multi_freq_ldpy.PEERS, ids=lambda peer: peer.name)
def test_oracles_are_asked_about_known_records_and_one_item_for_all_others(
    monkeypatch: pytest.MonkeyPatch, peer: Peer
) -> None:
    stand_in(monkeypatch, noiseless_packages.pure_ldp())
    stand_in(monkeypatch, noiseless_packages.multi_freq_ldpy())
    found = peer.find(small_task(OPT_IN, CLIENTS, known=(1, 2, 4)))
    assert found.record.tolist() == [1, 2, 4]
    assert found.probability == pytest.approx([SHARES[1], SHARES[2], SHARES[4]])


@pytest.mark.parametrize("peer", pure_ldp_heavy_hitters.PEERS, ids=lambda peer: peer.name)
def test_heavy_hitters_get_strings_and_give_back_records(
    monkeypatch: pytest.MonkeyPatch, peer: Peer
) -> None:
    stand_in(monkeypatch, noiseless_packages.pure_ldp())
    found = peer.find(small_task(OPT_IN, CLIENTS, known=()))
    in_order = dict(zip(found.record.tolist(), found.probability.tolist(), strict=True))
    assert in_order == pytest.approx(SHARES)


def test_pipeline_dp_is_asked_for_half_of_the_promise_because_a_change_is_two_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budgets = list[tuple[float, float]]()
    stand_in(
        monkeypatch,
        noiseless_packages.pipeline_dp(lambda epsilon, delta: budgets.append((epsilon, delta))),
    )
    task = small_task(OPT_IN, CLIENTS, epsilon=4, delta=1e-5)
    everybody = pipeline_dp.count_users(task, "everybody")
    found = dict(zip(everybody.record.tolist(), everybody.probability.tolist(), strict=True))
    assert found == pytest.approx(SHARES)
    ((epsilon, delta),) = budgets
    assert 2 * epsilon == 4
    assert delta + math.exp(epsilon) * delta == pytest.approx(1e-5)
    of_opt_in = pipeline_dp.count_users(task, "opt-in users")
    assert of_opt_in.record.tolist() == [0]
    assert of_opt_in.probability == pytest.approx([2 / 3])


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_missing_package_is_one_sentence_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, peer: Peer
) -> None:
    assert peer.module is not None
    monkeypatch.setitem(sys.modules, peer.module, None)
    with pytest.raises(
        MissingExtraError, match=r"^comparing with \w+ needs .*blender-dp\[peers\]'$"
    ):
        peer.require_installed()
    assert peer not in installed(PEERS)


def test_every_method_has_a_name_of_its_own_and_ours_come_first() -> None:
    names = [peer.name for peer in methods()]
    assert names[:2] == ["BLENDER, preset sharp", "BLENDER, preset paper"]
    assert len(set(names)) == len(names)
    assert [peer.name for peer in installed(methods())[:1]] == names[:1]


def test_a_made_up_string_is_kept_as_a_record_that_nobody_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(monkeypatch, noiseless_packages.pure_ldp())

    def made_up(_server: object, k: int) -> tuple[list[str], list[float]]:
        assert k == 4 * 10
        return ["111", "000"], [5.0, 1.0]

    monkeypatch.setattr(noiseless_packages.Server, "find_heavy_hitters", made_up)
    found = pure_ldp_heavy_hitters.prefix_extending(small_task(OPT_IN, CLIENTS))
    assert np.count_nonzero(found.record > 5) == 1
    assert found.probability.tolist() == [0.5, 0.1]
