# SPDX-License-Identifier: Apache-2.0
"""toolboxes/device: the device by messages of OVOS, with a client that plays its services as their sources have them
(ovos_PHAL_plugin_alsa 0.1.9a1, ovos_PHAL_plugin_system 1.3.8a4, ovos_media 2.4.5a1, ovos_gui and ovos_core)."""
import json
import re

import pytest
from caller import Caller
from conftest import BUSES, Service
from processes import BUILD, ROOT, toolboxctl
from test_bus_tools import SATELLITE, answer_of, ask, reply, result_of, sent, settle, unmarked

FOLDER = BUILD / "toolboxes" / "device.d"
TOOLS = json.loads((ROOT / "toolboxes" / "device" / "device.json").read_text())["tools"]
NAMES = [tool["name"] for tool in TOOLS]
OFFERED = ["speak", "get_volume", "now_playing"]
EXECUTE = ["reboot", "shutdown", "ask_assistant"]
OF_THE_CALLER = ["speak", "converse", "ask_assistant"]
VOLUME = "mycroft.volume."
MEDIA = "ovos.common_play."
UNCONFIRMED = "Nothing confirms that it was done."


@pytest.fixture(scope="module", params=BUSES)
def opened(request, tmp_path_factory):
    """A service with all tools."""
    one = Service(request.param, tmp_path_factory.mktemp(request.param), [FOLDER], configuration={
        "approval": {"mode": "off"}, "toolboxes": {"device": {"enabled": True}}})
    with one:
        yield one


@pytest.fixture
def device(opened):
    opened.forget_who_left()
    with Caller(opened.url) as caller:
        yield caller


class Alsa:
    """The volume as ovos_PHAL_plugin_alsa has it: a fraction on the bus; each change sends a report of its own making."""

    def __init__(self, caller):
        self.caller, self.percent, self.muted = caller, 75, False

    def report(self):
        return {"percent": self.percent / 100, "muted": self.muted}

    def get(self):
        reply(self.caller, sent(self.caller, VOLUME + "get"), self.report())

    def change(self, topic):
        message = sent(self.caller, VOLUME + topic)
        assert message.context["session"]["session_id"] == "default"
        if topic == "set":
            assert isinstance(message.data["play_sound"], bool)
            self.percent = max(0, min(100, int(message.data["percent"] * 100)))
        self.muted = topic == "mute"
        unmarked(self.caller, VOLUME + "get.response", self.report())
        return message


# ── what is offered, and as what ──────────────────────────────────────────────────────────────────


def names_of(caller):
    return [tool["name"] for tool in caller.call("ovos.tools.list")["tools"]]


def test_reading_and_speaking_are_offered_and_the_rest_is_enabled(launch):
    service = launch({}, [FOLDER])

    def ctl(*args):
        done = toolboxctl(*args, bus=service.url, home=service.home)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    with Caller(service.url) as caller:
        assert names_of(caller) == OFFERED
        whys = {one["name"]: one["why"] for one in caller.call("ovos.tools.status")["not_offered"]}
        assert whys == {name: f"disabled by its manifest; toolboxctl enable device/{name}" for name in NAMES
                        if name not in OFFERED}
        assert "device/set_volume is enabled" in ctl("enable", "device/set_volume")
        assert names_of(caller) == ["speak", "get_volume", "set_volume", "now_playing"]
        assert "device is enabled" in ctl("enable", "device")
        assert names_of(caller) == NAMES
        ctl("disable", "device/reboot", "--for", "1h")
        assert names_of(caller) == [name for name in NAMES if name != "reboot"]
        assert "device is not enabled" in ctl("disable", "device")
        ctl("disable", "device/set_volume")
        assert names_of(caller) == OFFERED
        assert caller.invoke("mute")["code"] == "unknown_tool"


def test_a_tool_that_its_author_has_disabled_is_no_warning(tmp_path):
    done = toolboxctl("check", FOLDER / "device.json", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "device: bus, 19 tools" in done.stdout


def test_each_tool_says_what_it_is(device):
    for name in NAMES:
        tool = device.call("ovos.tools.get", {"name": name})
        assert tool["risk"] == ("execute" if name in EXECUTE else "read" if name in ("get_volume", "now_playing") else "write")
        assert tool["title"] and tool["examples"], name
        assert tool["description"].endswith(UNCONFIRMED) == (
            next(one for one in TOOLS if one["name"] == name)["bus"].get("reply") is False), tool
        assert tool["argument_schema"]["additionalProperties"] is False


def test_no_power_without_a_person(launch):
    service = launch({"toolboxes": {"device": {"enabled": True}}}, [FOLDER])
    with Caller(service.url) as caller:
        for name in EXECUTE:
            args = {"utterance": "reboot"} if name == "ask_assistant" else {}
            assert caller.invoke(name, args)["code"] == "denied"
        assert not [one for one in settle(caller) if one.type.startswith(("system.", "recognizer_loop"))]


# ── loudness ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("percent, fraction", [(40, "0.4"), (0, "0"), (7, "0.07"), (100, "1")])
def test_percent_is_a_fraction_on_the_bus_and_the_result_is_what_the_device_reports(device, percent, fraction):
    alsa = Alsa(device)
    mark = ask(device, "set_volume", {"percent": percent})
    assert f'"percent":{fraction},' in alsa.change("set").text.replace(": ", ":").replace(", ", ",")
    assert result_of(device, mark) == {"percent": percent, "muted": False}
    mark = ask(device, "get_volume")
    alsa.get()
    assert result_of(device, mark) == {"percent": percent, "muted": False}


@pytest.mark.parametrize("name, args", [("get_volume", {}), ("set_volume", {"percent": 40}), ("mute", {}), ("unmute", {})])
@pytest.mark.parametrize("percent, code", [
    (40, "invalid_output"), (-0.1, "invalid_output"), ("0.4", "tool_failed"), (None, "tool_failed"), ([0.4], "tool_failed")])
def test_a_loudness_that_is_no_fraction_is_told_to_nobody(device, name, args, percent, code):
    mark = ask(device, name, args)
    reply(device, sent(device, VOLUME + name.removesuffix("_volume")), {"percent": percent}, VOLUME + "get.response")
    assert answer_of(device, mark)["code"] == code


def test_a_reply_that_comes_late_or_twice_is_of_no_other_call(device):
    mark = ask(device, "get_volume")
    first = sent(device, VOLUME + "get")
    for percent in 0.1, 0.2:
        reply(device, first, {"percent": percent})
    assert result_of(device, mark) == {"percent": 10}
    mark = ask(device, "get_volume")
    second = sent(device, VOLUME + "get")
    reply(device, first, {"percent": 0.3})
    reply(device, second, {"percent": 0.4})
    assert result_of(device, mark) == {"percent": 40}


def test_what_alsa_makes_of_a_fraction_is_told(device):
    mark = ask(device, "set_volume", {"percent": 29})
    Alsa(device).change("set")  # int(0.29 * 100)
    assert result_of(device, mark) == {"percent": 28, "muted": False}


@pytest.mark.parametrize("percent", [-1, 101, 40.5, "40", None])
def test_a_loudness_out_of_range_is_refused_and_nothing_is_sent(device, percent):
    answer = device.invoke("set_volume", {"percent": percent})
    assert answer["code"] == "invalid_arguments" and answer["violations"][0]["path"] == "/percent"
    assert not [one for one in settle(device) if one.type.startswith(VOLUME)]


def test_muting_is_confirmed_and_pulseaudio_says_less(device):
    alsa = Alsa(device)
    for name, muted in ("mute", True), ("unmute", False):
        mark = ask(device, name)
        alsa.change(name)
        assert result_of(device, mark) == {"percent": 75, "muted": muted}
    mark = ask(device, "mute")
    sent(device, VOLUME + "mute")
    unmarked(device, VOLUME + "get.response", {"percent": 0})
    assert result_of(device, mark) == {"percent": 0}


@pytest.mark.parametrize("name, args, topic", [
    ("set_volume", {"percent": 1}, VOLUME + "set"), ("now_playing", {}, MEDIA + "status"), ("reboot", {}, "system.reboot")])
def test_a_service_that_is_not_there_is_named(device, name, args, topic):
    answer = device.invoke(name, args, timeout_ms=100)
    assert answer["code"] == "timeout" and f"nobody answered {topic}" in answer["error"], answer


# ── media ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name, args, topic, data", [
    ("play_pause", {}, "play_pause", {}), ("next", {}, "next", {}), ("previous", {}, "previous", {}),
    ("stop_playback", {}, "stop", {}), ("seek", {"seconds": 30}, "seek", {"seconds": 30}),
    ("seek", {"seconds": -2.5}, "seek", {"seconds": -2.5})])
def test_media_is_told_in_the_session_of_the_device(device, name, args, topic, data):
    mark = ask(device, name, args, {"session": SATELLITE})
    message = sent(device, MEDIA + topic)
    assert message.data == data and message.context["session"] == {"session_id": "default", "lang": "de-de"}
    assert result_of(device, mark) == {"sent": True}


@pytest.mark.parametrize("seconds", [None, "ten", 1e9, True])
def test_a_seek_that_media_would_ignore_is_refused(device, seconds):
    assert device.invoke("seek", {"seconds": seconds})["code"] == "invalid_arguments"


def test_what_is_playing(device):
    status = {"playback_type": 0, "media_type": 2, "player_state": 1, "loop_state": 0, "media_state": 3, "shuffle": False,
              "playlist_position": 2, "playlist_size": 7, "title": "Take Five", "artist": "", "image": ""}
    mark = ask(device, "now_playing")
    reply(device, sent(device, MEDIA + "status"), status)
    assert result_of(device, mark) == {"player_state": 1, "title": "Take Five", "artist": "", "image": "",
                                       "playlist_position": 2, "playlist_size": 7}


# ── words, the screen, the assistant ──────────────────────────────────────────────────────────────


def test_speech_goes_to_the_person_who_asked(device):
    mark = ask(device, "speak", {"text": "Dinner: {is} ready"}, {"session": SATELLITE})
    message = sent(device, "speak")
    assert message.data == {"utterance": "Dinner: {is} ready", "expect_response": False, "meta": {"skill": "toolboxd"}}
    assert message.context["session"] == SATELLITE and message.context["skill_id"] == "toolboxd"
    assert result_of(device, mark) == {"sent": True}
    assert device.invoke("speak", {"text": ""})["code"] == "invalid_arguments"


def test_a_person_is_asked(device):
    mark = ask(device, "converse", {"message": "Which room?"})
    assert sent(device, "speak").data["expect_response"] is True
    unmarked(device, "toolboxd.converse.get_response", {"utterances": ["the kitchen", "a kitten"], "lang": "en-us"})
    assert result_of(device, mark) == {"answer": "the kitchen"}
    mark = ask(device, "converse", {"message": "Good night", "wait_for_response": False}, {"session": SATELLITE})
    assert sent(device, "speak").context["session"] == SATELLITE
    assert result_of(device, mark) == {"sent": True}


def test_the_assistant_is_asked(device):
    mark = ask(device, "ask_assistant", {"utterance": "tell me a joke"}, {"session": SATELLITE})
    message = sent(device, "recognizer_loop:utterance")
    assert message.data == {"utterances": ["tell me a joke"]} and message.context["session"] == SATELLITE
    reply(device, message, {"utterance": "No."}, "speak")
    reply(device, message, {}, "ovos.utterance.handled")
    assert result_of(device, mark) == {"answers": ["No."], "ended_by": "ovos.utterance.handled"}


@pytest.mark.parametrize("args, shown", [
    ({"text": "ready"}, {"sender": "toolboxd", "duration": 10}),
    ({"text": "ready", "title": "Cellar", "duration": 60}, {"sender": "Cellar", "duration": 60})])
def test_a_notification_is_as_ovos_shell_reads_it(device, args, shown):
    mark = ask(device, "notify", args)
    assert sent(device, "ovos.notification.api.set").data == {
        "text": "ready", "action": None, "type": "transient", "style": "info", "callback_data": {}, **shown}
    assert result_of(device, mark) == {"sent": True}


@pytest.mark.parametrize("title", [None, "Shopping"])
def test_a_text_is_on_the_screen_before_its_page_is_shown(device, title):
    mark = ask(device, "show_text", {"text": "Milk", **({"title": title} if title else {})})
    order = []
    while len(order) < 2:
        message = device.receive()
        order += [message] if message.type.startswith("gui.") else []
    values, page = order
    assert (values.type, page.type) == ("gui.value.set", "gui.page.show")
    assert values.data == {"text": "Milk", "title": title or "", "__from": "toolboxd"}
    assert page.data == {"page_names": ["SYSTEM_TextFrame"], "index": 0, "__from": "toolboxd", "__idle": None,
                         "__animations": False}
    assert result_of(device, mark) == {"sent": True}


@pytest.mark.parametrize("name, topic", [("listen", "mycroft.mic.listen"), ("stop_all", "mycroft.stop")])
def test_a_message_of_its_own(device, name, topic):
    mark = ask(device, name, context={"session": SATELLITE})
    message = sent(device, topic)
    assert message.data == {} and message.context["session"]["session_id"] == "default"
    assert result_of(device, mark) == {"sent": True}


@pytest.mark.parametrize("name", ["reboot", "shutdown"])
def test_power_is_confirmed_by_the_system_service(device, name):
    mark = ask(device, name)
    message = sent(device, f"system.{name}")
    assert message.data == {}
    reply(device, message, message.data, f"system.{name}.start")  # Message.forward() keeps the context, too
    assert result_of(device, mark) == {}


def test_every_message_is_for_the_device_but_speech(device):
    """Audio, media and alsa's volume do nothing for the session of a satellite."""
    of_the_caller = [tool["name"] for tool in TOOLS if tool["bus"].get("session") != "default"]
    assert of_the_caller == OF_THE_CALLER


# ── by voice ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lang, utterance, name, args", [
    ("en", "say dinner is ready", "speak", {"text": "dinner is ready"}),
    ("de", "Bitte sage das Essen ist fertig", "speak", {"text": "das Essen ist fertig"}),
    ("en", "How loud is it?", "get_volume", {}), ("de", "wie hoch ist die Lautstärke", "get_volume", {}),
    ("en", "set the volume to forty percent", "set_volume", {"percent": 40}),
    ("en", "turn volume to 7%", "set_volume", {"percent": 7}),
    ("de", "Stelle die Lautstärke auf fünfunddreißig Prozent.", "set_volume", {"percent": 35}),
    ("en", "mute", "mute", {}), ("de", "schalte den Ton aus", "mute", {}),
    ("en", "please unmute yourself", "unmute", {}), ("de", "schalte den Ton wieder ein", "unmute", {}),
    ("en", "pause the music", "play_pause", {}), ("de", "halte die Musik an", "play_pause", {}),
    ("en", "skip this song", "next", {}), ("de", "nächstes Lied", "next", {}),
    ("en", "previous track", "previous", {}), ("de", "spiele das vorige Lied", "previous", {}),
    ("en", "skip forward thirty seconds", "seek", {"seconds": 30}), ("de", "spule zehn Sekunden vor", "seek", {"seconds": 10}),
    ("en", "what is playing", "now_playing", {}), ("de", "was läuft gerade?", "now_playing", {}),
    ("en", "stop the music", "stop_playback", {}), ("de", "stopp die Musik", "stop_playback", {}),
    ("en", "stop everything", "stop_all", {}), ("de", "beende alles", "stop_all", {}),
    ("en", "reboot", "reboot", {}), ("de", "starte das Gerät neu", "reboot", {}),
    ("en", "shut down the device", "shutdown", {}), ("de", "fahre das System herunter", "shutdown", {})])
def test_a_person_says_it(device, lang, utterance, name, args):
    answer = device.call("ovos.tools.match", {"utterance": utterance, "lang": lang})
    assert (answer["name"], answer.get("args", {})) == (name, args), answer


@pytest.mark.parametrize("utterance", ["set the volume to eleven hundred", "restart the washing machine", "stop", "unmuted",
                                       "what he said", "next week", "shut down"])
def test_a_person_says_something_else(device, utterance):
    assert device.call("ovos.tools.utterance", {"utterance": utterance, "lang": "en"}) == {"matched": False}


@pytest.mark.parametrize("lang, utterance, speech", [
    ("en", "what's the volume", "The volume is 75 percent."), ("de", "wie laut ist es", "Die Lautstärke ist 75 Prozent.")])
def test_the_answer_is_a_sentence(device, lang, utterance, speech):
    mark = device.send("ovos.tools.utterance", {"utterance": utterance, "lang": lang})
    Alsa(device).get()
    answer = device.answer_to("ovos.tools.utterance", mark).data
    assert answer["speech"] == speech


# ── its page ──────────────────────────────────────────────────────────────────────────────────────


def test_the_page_has_every_tool():
    text = (ROOT / "docs" / "toolboxes" / "device.md").read_text()
    assert re.findall(r"^\| `(\w+)", text, re.M) == NAMES
