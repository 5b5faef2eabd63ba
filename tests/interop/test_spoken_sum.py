# SPDX-License-Identifier: Apache-2.0
"""A device without a model: ovos-core has toolboxd answer what no skill takes. test_listen.py has each rule."""
import time

import manifests
import pytest
from ovos_site import Core, Device
from sites import Site

ROUNDS = 20


@pytest.fixture(params=["ovos3", "ovos2"])
def site(request):
    if not request.config.getoption("--long"):
        pytest.skip("a core of its own, beside test_ovos_core: with --long")
    return Site.of(request.param)


def seconds_until_spoken(device, utterance):
    """From the message with the utterance to `speak`."""
    since, start = len(device.frames), time.monotonic()
    mark = device.send("recognizer_loop:utterance", {"utterances": [utterance], "lang": "en-us"})
    device.wait_for(lambda one: one["type"] == "speak" and one["context"].get("mark") == mark, since=since)
    seconds = time.monotonic() - start
    device.wait_for(lambda one: one["type"] == "ovos.utterance.handled" and one["context"].get("mark") == mark, since=since)
    return seconds


def test_a_spoken_sum_is_answered_without_a_model(launch, site, tmp_path, figure):
    service = launch({"listen": "fallback"}, [manifests.SHIPPED])
    with Device(service.url) as device:
        for start in range(2):  # a core that has started again knows nobody: it is told
            core = Core(site, tmp_path / f"core-{start}", service.url)
            try:
                core.wait_until_ready(device)
                assert device.say("what is three plus four") == ["That makes 7."]
                assert device.say("what is twenty one minus one", session_id="kitchen") == ["That makes 20."]
                assert device.say("good night my dear") == []
                times = sorted(seconds_until_spoken(device, "what is three plus four") for _ in range(ROUNDS))
                figure("ms", 1000 * times[ROUNDS // 2])
            finally:
                core.end()
