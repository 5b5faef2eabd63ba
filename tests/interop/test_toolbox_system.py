# SPDX-License-Identifier: Apache-2.0
"""toolboxes/system: what it says of a device. The device is a copy of /proc and /sys, as a Raspberry Pi with a battery
and a USB sound card has them (TOOLBOXD_SYSROOT); what cannot be copied is asked of this machine."""
import errno
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from caller import Caller, Lasting
from conftest import Service
from manifests import SHIPPED
from processes import BUILD, EVENT_SECONDS, IS_SANITIZED, ROOT, TOOLBOXD, environment, toolboxctl, until

FOLDER = BUILD / "toolboxes" / "system.d"
PLAIN_USER = 12347
READ = ["system_info", "cpu_temperature", "memory_usage", "disk_space", "battery", "network", "processes",
        "audio_devices", "time", "tool_statistics", "service_status", "service_logs"]

STAT = "{pid} ({name}) S 1 {pid} {pid} 0 -1 4194560 1 2 3 4 {ticks} 0 5 6 20 0 1 0 100 1000000 {pages} 184\n"

# A device: path below the copy, text.
DEVICE = {
    "proc/meminfo": "MemTotal:        4000 kB\nMemFree:          100 kB\nMemAvailable:    3000 kB\n"
                    "SwapTotal:       1000 kB\nSwapFree:         750 kB\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: ARMv8 Processor\n\nprocessor\t: 1\nmodel name\t: ARMv8 Processor\n",
    "proc/loadavg": "0.25 0.50 0.75 1/200 1234\n",
    "proc/uptime": "90061.50 180000.00\n",
    "proc/sys/kernel/hostname": "kitchen\n",
    "proc/sys/kernel/osrelease": "6.1.0-rpi\n",
    "etc/os-release": 'NAME="x"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "sys/firmware/devicetree/base/model": "Raspberry Pi 5 Model B\0",
    "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "sys/class/thermal/thermal_zone0/temp": "48312\n",
    "sys/class/thermal/cooling_device0/type": "fan\n",
    "sys/class/hwmon/hwmon0/name": "nvme\n",
    "sys/class/hwmon/hwmon0/temp1_input": "61850\n",
    "sys/class/hwmon/hwmon0/temp1_label": "Composite\n",
    "sys/class/hwmon/hwmon0/temp2_input": "-200000\n",
    "sys/class/hwmon/hwmon0/temp1_crit": "90000\n",
    "sys/class/power_supply/BAT0/type": "Battery\n",
    "sys/class/power_supply/BAT0/capacity": "83\n",
    "sys/class/power_supply/BAT0/status": "Not charging\n",
    "sys/class/power_supply/mouse/type": "Battery\n",
    "sys/class/power_supply/mouse/scope": "Device\n",
    "sys/class/power_supply/mouse/capacity": "5\n",
    "sys/class/power_supply/AC/type": "Mains\n",
    "sys/class/power_supply/AC/online": "1\n",
    "proc/asound/cards": " 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0\n"
                         "                      vc4-hdmi-0\n"
                         " 2 [Device         ]: USB-Audio - USB PnP Sound\n"
                         "                      C-Media USB at usb-1.2\n",
    "proc/asound/pcm": "00-00: MAI PCM i2s-hifi-0 : MAI PCM i2s-hifi-0 : playback 1\n"
                       "02-00: USB Audio : USB Audio : playback 1 : capture 1\n",
    "sys/class/net/eth0/operstate": "up\n",
    "sys/class/net/eth0/address": "dc:a6:32:00:00:01\n",
    "sys/class/net/eth0/speed": "1000\n",
    "sys/class/net/eth0/statistics/rx_bytes": "123\n",
    "sys/class/net/eth0/statistics/tx_bytes": "45\n",
    "sys/class/net/lo/operstate": "unknown\n",
    "sys/class/net/wlan0/operstate": "down\n",
    "sys/class/net/wlan0/wireless/x": "",
    "sys/class/net/bonding_masters": "\n",
    "proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
                      "wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                      "eth0\t00000000\tFE02000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                      "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
    "proc/net/if_inet6": "fe80000000000000dea632fffe000001 02 40 20 80     eth0\n"
                         "00000000000000000000000000000001 01 80 10 80       lo\n",
    "proc/net/fib_trie": "Main:\n  +-- 0.0.0.0/0 3 0 5\n     +-- 10.0.2.0/24 2 0 2\n"
                         "        |-- 10.0.2.0\n           /24 link UNICAST\n"
                         "        |-- 10.0.2.15\n           /32 host LOCAL\n"
                         "        |-- 10.0.2.255\n           /32 link BROADCAST\n"
                         "     |-- 127.0.0.1\n        /32 host LOCAL\n"
                         "Local:\n     |-- 10.0.2.15\n        /32 host LOCAL\n",
    "proc/1/stat": STAT.format(pid=1, name="systemd", ticks=5, pages=100),
    "proc/7/stat": STAT.format(pid=7, name="a) S (b", ticks=9, pages=300),
    "proc/8/stat": "8 (broken",
    "proc/self/mountinfo": "27 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
                           "28 1 254:1 / /data\\040disk rw - ext4 /dev/sda1 rw\n"
                           "29 1 0:20 / /proc rw - proc proc rw\n",
    "data disk/x": "",
}


def lay(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class System:
    """The tools, of the device below `root`, or of this machine."""

    def __init__(self, home, root=None, **options):
        sandbox = {"sandbox": {"read": ["/proc", "/sys", str(root)]}} if root else {}
        options["configuration"] = {"toolboxes": {"system": {**sandbox, **options.pop("settings", {})}},
                                    **options.pop("toolboxd", {})}
        if root:
            options["env"] = {"TOOLBOXD_SYSROOT": str(root)}
        self.root = root
        self.service = Service("embedded", home, [FOLDER, *options.pop("toolbox_dirs", [])], **options)
        self.service.wait_until_ready()
        self.caller = Lasting(self.service.url)

    def close(self):
        self.caller.close()
        self.service.end()

    def result(self, name, /, **args):
        answer = self.caller.invoke(name, args, seconds=EVENT_SECONDS)
        assert "result" in answer, answer
        return answer["result"]

    def failure(self, name, /, code="tool_failed", **args):
        answer = self.caller.invoke(name, args, seconds=EVENT_SECONDS)
        assert answer.get("code") == code, answer
        return answer["error"]


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    home = tmp_path_factory.mktemp("device")
    lay(home / "copy", DEVICE)
    (home / "copy/usr/share").mkdir(parents=True)
    (home / "copy/usr/share/zoneinfo").symlink_to("/usr/share/zoneinfo")
    one = System(home / "service", home / "copy")
    yield one
    one.close()


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    one = System(tmp_path_factory.mktemp("here"))
    yield one
    one.close()


@pytest.fixture
def changed(device):
    """changed(name, text): another text in the device's copy, until the test ends; None: no such file."""
    def change(name, text):
        path = device.root / name
        path.unlink() if text is None else path.write_text(text)
        touched.append(name)

    touched = []
    yield change
    lay(device.root, {name: DEVICE[name] for name in touched})


# ── the copy ───────────────────────────────────────────────────────────────────────────────────────


def test_a_device_is_described(device):
    result = device.result("system_info")
    assert result.pop("architecture") == os.uname().machine
    assert result == {"hostname": "kitchen", "os": "Debian GNU/Linux 12 (bookworm)", "kernel": "6.1.0-rpi",
                      "model": "Raspberry Pi 5 Model B", "processor": "ARMv8 Processor", "processors": 2, "load_1m": 0.25,
                      "load_5m": 0.5, "load_15m": 0.75, "uptime_seconds": 90061, "uptime_days": 1}


def test_the_sensor_of_the_processor_is_chosen_and_broken_ones_are_left_out(device):
    assert device.result("cpu_temperature") == {
        "celsius": 48.3, "sensor": "cpu-thermal",
        "sensors": [{"name": "cpu-thermal", "celsius": 48.3}, {"name": "nvme Composite", "celsius": 61.9}]}


def test_memory_in_use_is_what_cannot_be_given_to_programs(device):
    assert device.result("memory_usage") == {
        "total_bytes": 4096000, "available_bytes": 3072000, "used_bytes": 1024000, "used_percent": 25,
        "swap_total_bytes": 1024000, "swap_used_bytes": 256000}


def test_the_battery_of_a_mouse_is_not_the_devices(device):
    assert device.result("battery") == {
        "percent": 83, "state": "not charging", "on_mains": True,
        "batteries": [{"name": "BAT0", "percent": 83, "state": "not charging"}]}


def test_a_device_without_a_sensor_or_a_battery_says_so(device, changed):
    changed("sys/class/thermal/thermal_zone0/temp", "nonsense")
    changed("sys/class/hwmon/hwmon0/temp1_input", None)
    changed("sys/class/power_supply/BAT0/capacity", None)
    assert "no sensor of the processor's temperature in /sys/class/thermal" in device.failure("cpu_temperature")
    assert "this device has no battery: /sys/class/power_supply lists none" in device.failure("battery")


def test_the_sensor_of_another_part_is_not_the_processors(device, changed):
    changed("sys/class/thermal/thermal_zone0/temp", None)
    assert "no sensor of the processor's temperature" in device.failure("cpu_temperature")
    changed("sys/class/hwmon/hwmon0/name", "acpitz")
    assert device.result("cpu_temperature")["sensor"] == "acpitz Composite"
    changed("sys/class/thermal/thermal_zone0/temp", "-5")
    changed("sys/class/thermal/thermal_zone0/type", "CPU-therm")
    result = device.result("cpu_temperature")
    assert result["sensor"] == "CPU-therm" and str(result["celsius"]) == "0.0"


def test_figures_of_memory_that_do_not_go_together_are_refused(device, changed):
    changed("proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 20 kB\n")
    assert "has no figures that go together" in device.failure("memory_usage")


def test_addresses_are_found_without_a_socket(device):
    result = device.result("network")
    interfaces = {one.pop("name"): one for one in result.pop("interfaces")}
    assert result == {"has_default_route": True, "default_interface": "eth0", "gateway": "10.0.2.254",
                      "address": "10.0.2.15"}
    assert interfaces == {
        "eth0": {"state": "up", "wireless": False, "hardware_address": "dc:a6:32:00:00:01",
                 "addresses": ["10.0.2.15", "fe80::dea6:32ff:fe00:1"], "speed_mbit": 1000, "rx_bytes": 123, "tx_bytes": 45},
        "lo": {"state": "unknown", "wireless": False, "addresses": ["127.0.0.1", "::1"]},
        "wlan0": {"state": "down", "wireless": True, "addresses": []}}


def test_a_device_without_a_way_out_has_no_gateway(device, changed):
    changed("proc/net/route", "Iface\tDestination\n")
    result = device.result("network")
    assert result["has_default_route"] is False and "gateway" not in result


def test_processes_are_sorted_by_their_memory(device):
    result = device.result("processes", by="memory")
    assert (result["n_processes"], result["top"]) == (2, "a) S (b")
    assert [(one["pid"], one["name"], one["memory_bytes"] // os.sysconf("SC_PAGESIZE"))
            for one in result["processes"]] == [(7, "a) S (b", 300), (1, "systemd", 100)]
    assert len(device.result("processes", by="memory", limit=1)["processes"]) == 1


def test_sound_devices_have_the_names_that_alsa_takes(device):
    assert device.result("audio_devices") == {
        "devices": [{"device": "hw:CARD=vc4hdmi0,DEV=0", "name": "MAI PCM i2s-hifi-0", "card": "vc4-hdmi-0",
                     "output": True, "input": False},
                    {"device": "hw:CARD=Device,DEV=0", "name": "USB Audio", "card": "USB PnP Sound",
                     "output": True, "input": True}],
        "n_outputs": 2, "n_inputs": 1}


def test_a_kernel_without_sound_says_what_to_do(device, changed):
    changed("proc/asound/cards", None)
    assert "Load the driver of the sound card" in device.failure("audio_devices")


def test_disks_are_listed_without_what_is_no_disk(device):
    result = device.result("disk_space")
    assert result["path"] == "/"
    assert [(one["path"], one["device"], one["type"]) for one in result["disks"]] == [
        ("/", "/dev/root", "ext4"), ("/data disk", "/dev/sda1", "ext4")]


def test_a_part_that_is_wrong_costs_no_other_part(device, changed):
    changed("proc/loadavg", "nan inf 0.5 1/200 1234\n")
    changed("etc/os-release", "PRETTY_NAME='Void Linux'\n")
    changed("proc/sys/kernel/hostname", "")
    changed("sys/firmware/devicetree/base/model", "x" * (1 << 20))
    result = device.result("system_info")
    assert "load_1m" not in result and result["os"] == "Void Linux" and result["uptime_days"] == 1
    assert result["hostname"] == os.uname().nodename and result["model"] == "x" * 4096
    changed("sys/class/power_supply/BAT0/status", "")
    assert device.result("battery")["state"] == "unknown"


@pytest.mark.parametrize("name, args, words", [
    ("disk_space", {"path": "/" + "a" * (1 << 20)}, "Without `path`, all disks are listed"),
    ("tool_statistics", {"toolbox": "a" * (1 << 20)}, "Without `toolbox`, all that were called are listed")])
def test_a_long_argument_leaves_room_for_the_next_step(device, name, args, words):
    assert words in device.failure(name, **args)


def test_bytes_that_are_no_text_do_not_fail_a_call(device):
    path = device.root / "proc/sys/kernel/hostname"
    path.write_bytes(b"kit\xffchen\0\n")
    try:
        assert device.result("system_info")["hostname"] == "kit\ufffdchen"
    finally:
        lay(device.root, {"proc/sys/kernel/hostname": DEVICE["proc/sys/kernel/hostname"]})


def test_disks_that_cannot_be_listed_are_not_none(device, changed):
    changed("proc/self/mountinfo", None)
    assert "/proc/self/mountinfo cannot be read" in device.failure("disk_space")
    assert device.result("disk_space", path="/")["path"] == "/"


def test_a_fifo_in_the_place_of_a_file_holds_no_call_up(device):
    path = device.root / "proc/uptime"
    path.unlink()
    os.mkfifo(path)
    try:
        assert "uptime_seconds" not in device.result("system_info")
    finally:
        path.unlink()
        lay(device.root, {"proc/uptime": DEVICE["proc/uptime"]})


def test_a_copy_is_announced_and_no_service_of_the_system_has_one(device, tmp_path):
    assert f"tools see {device.root}/proc and /sys in place of the kernel's" in device.service.daemon.log()
    ended = subprocess.run([TOOLBOXD, "--check"], capture_output=True, text=True,
                           env=environment(tmp_path, TOOLBOXD_SYSROOT="/copy", STATE_DIRECTORY=str(tmp_path)))
    assert ended.returncode == 2 and "refused where STATE_DIRECTORY is set" in ended.stderr


# ── this machine ───────────────────────────────────────────────────────────────────────────────────


def test_every_tool_that_this_machine_can_answer_does(here):
    assert here.result("system_info")["hostname"] == socket.gethostname()
    memory = here.result("memory_usage")
    assert memory["used_bytes"] + memory["available_bytes"] == memory["total_bytes"]
    assert "127.0.0.1" in [address for one in here.result("network")["interfaces"] for address in one["addresses"]]
    status = os.statvfs("/")
    assert here.result("disk_space", path="/")["total_bytes"] == status.f_blocks * status.f_frsize


def test_a_program_that_takes_a_processor_is_seen(here):
    with subprocess.Popen(["/usr/bin/python3", "-c", "while True: pass"]) as busy:
        try:
            def find():
                """Beside other load it may have got no processor during a look."""
                return [one for one in here.result("processes", limit=100)["processes"]
                        if one["pid"] == busy.pid and one["cpu_percent"] > 0]

            assert until(find, EVENT_SECONDS, "its use of the processor")[0]["uid"] == os.getuid()
        finally:
            busy.kill()


def test_a_path_must_be_absolute_and_there(here):
    assert "must be an absolute path" in here.failure("disk_space", code="invalid_arguments", path="home")
    assert "/no/such: no file system is found there. Without `path`, all disks are listed" in \
        here.failure("disk_space", path="/no/such")
    assert "/etc/passwd/x: no file system is found there." in here.failure("disk_space", path="/etc/passwd/x")


def test_time_is_the_time(here):
    before = time.time()
    result = here.result("time")
    assert int(before) <= result["unix"] <= time.time()
    told = datetime.fromisoformat(result["iso"])
    assert told.timestamp() == result["unix"]
    assert (result["time"], result["date"], result["weekday"]) == (
        told.strftime("%H:%M"), told.strftime("%Y-%m-%d"), told.strftime("%A"))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "asia/tokyo", "Tokyo"])
def test_another_zone_is_found_by_its_name_or_city(here, zone):
    result = here.result("time", timezone=zone)
    assert (result["timezone"], result["utc_offset"]) == ("Asia/Tokyo", "+09:00")
    moment = datetime.fromtimestamp(result["unix"], timezone(timedelta(hours=9)))
    assert result["iso"] == moment.isoformat()
    assert here.result("time")["timezone"] != "Asia/Tokyo"


@pytest.mark.parametrize("zone", ["Tokio", "../../../etc/passwd", "/etc/localtime", "a" * 500, "x\0y", ":Tokyo"])
def test_no_file_is_a_zone_and_near_names_are_named(here, zone):
    words = here.failure("time", timezone=zone)
    assert "no time zone is called" in words
    assert ("did you mean Tokyo?" in words) == (zone in ("Tokio", ":Tokyo"))


def test_an_old_name_of_a_zone_needs_no_file_of_its_own(tmp_path):
    """Debian has the files of such names in tzdata-legacy, and all names in tzdata.zi."""
    zones = tmp_path / "copy/usr/share/zoneinfo"
    (zones / "Asia").mkdir(parents=True)
    shutil.copy("/usr/share/zoneinfo/Asia/Kolkata", zones / "Asia")
    lay(zones, {"tzdata.zi": "Z Asia/Kolkata 5:30 - IST\nZ Asia/Gone 5 - X\nL Asia/Kolkata Asia/Calcutta\n"})
    one = System(tmp_path / "service", tmp_path / "copy")
    try:
        result = one.result("time", timezone="calcutta")
        assert (result["timezone"], result["utc_offset"]) == ("Asia/Calcutta", "+05:30")
        assert "/usr/share/zoneinfo/Asia/Gone cannot be read: install the package tzdata" in one.failure("time", timezone="gone")
    finally:
        one.close()


# ── services ───────────────────────────────────────────────────────────────────────────────────────


class Managed:
    """The tools beside a bus of D-Bus, where service_manager.c plays systemd."""

    def __init__(self, home):
        home.mkdir(exist_ok=True)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libsystemd"], capture_output=True, text=True,
                               check=True).stdout.split()
        program = home / "service_manager"
        subprocess.run(["cc", ROOT / "tests/interop/service_manager.c", "-o", program, *flags], check=True)
        self.socket = home / "bus"
        self.bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address",
                                     f"--address=unix:path={self.socket}"], stdout=subprocess.PIPE, text=True)
        self.bus.stdout.readline()
        address = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.socket}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/no/bus"}
        self.manager = subprocess.Popen([program], env={**os.environ, **address}, stdout=subprocess.PIPE, text=True)
        assert self.manager.stdout.readline() == "ready\n"
        self.journal = home / "journal"
        self.journal.mkdir()
        self.system = System(home / "service", toolboxd={"approval": {"mode": "off"}}, settings={
            "units": ["good", "bad.service", "slow", "locked"], "journals": [str(self.journal)], "env": address})

    def done(self):
        return self.manager.stdout.readline().rstrip("\n")

    def close(self):
        self.system.close()
        for process in (self.manager, self.bus):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def managed(tmp_path_factory):
    if not shutil.which("dbus-daemon"):
        pytest.skip("dbus-daemon is not installed, so no service manager can be played")
    one = Managed(tmp_path_factory.mktemp("managed"))
    yield one
    one.close()


GOOD = {"unit": "good.service", "manager": "system", "description": "A unit that is played", "load_state": "loaded",
        "unit_file_state": "enabled", "since": "2023-11-14T22:13:20Z"}
RUNNING = {**GOOD, "active_state": "active", "is_active": True, "sub_state": "running", "main_pid": 42}
DEAD = {**GOOD, "active_state": "inactive", "is_active": False, "sub_state": "dead"}


def test_a_service_is_started_and_stopped(managed):
    assert managed.system.result("service", name="good", action="start") == {"action": "start", **RUNNING}
    assert managed.done() == "StartUnit good.service"
    assert managed.system.result("service_status", unit="good") == RUNNING
    assert managed.system.result("service", name="good.service") == RUNNING
    assert managed.system.result("service", name="good", action="restart")["action"] == "restart"
    assert managed.done() == "RestartUnit good.service"
    assert managed.system.result("service", name="good", action="stop") == {"action": "stop", **DEAD}
    assert managed.done() == "StopUnit good.service"
    assert managed.system.result("service", name="good", action="enable")["unit"] == "good.service"
    assert managed.done() == "EnableUnitFiles good.service"
    assert managed.system.result("service", name="good", action="disable")["unit"] == "good.service"
    assert managed.done() == "DisableUnitFiles good.service"


def test_a_job_that_fails_or_is_refused_says_what_to_do(managed):
    assert "the unit has not done it: failed. service_logs may show why" in managed.system.failure(
        "service", name="bad", action="start")
    assert managed.done() == "StartUnit bad.service"
    assert "allow it by a rule of polkit" in managed.system.failure("service", name="locked", action="stop")
    assert managed.done() == "StopUnit locked.service"


def test_a_job_that_does_not_end_is_left_in_time(managed):
    answer = managed.system.caller.invoke("service", {"name": "slow", "action": "start"}, timeout_ms=4000)
    assert "it was begun, and has not ended yet; service_status shows how it goes on" in answer["error"], answer
    assert managed.done() == "StartUnit slow.service"


def test_only_units_that_the_operator_names_are_changed_and_read(managed):
    for args in ({"name": "ssh", "action": "stop"}, {"name": "ssh", "action": "logs"}):
        assert "ssh.service is not in `toolboxes.system.units`" in managed.system.failure("service", **args)
    assert "ssh.service is not in `toolboxes.system.units`" in managed.system.failure("service_logs", unit="ssh")
    assert managed.system.failure("service", name="good", action="stop;x", code="invalid_arguments")


def test_near_names_of_an_unknown_unit_are_named(managed):
    assert "there is no unit goad.service; did you mean good?" in managed.system.failure(
        "service_status", unit="goad")
    assert "the service manager has failed" in managed.system.failure("service_status", unit="mute")
    assert "`systemctl list-unit-files` shows all names" in managed.system.failure("service_status", unit="q.timer")
    for name in ("../x", "a b", "x" * 300, "x\0y"):
        assert "must be the name of a unit" in managed.system.failure("service_status", code="invalid_arguments", unit=name)


def test_a_device_without_a_manager_says_so(here):
    if os.path.exists("/run/dbus/system_bus_socket") or os.path.exists(f"/run/user/{os.getuid()}/bus"):
        pytest.skip("this machine has a service manager")
    assert "no service manager can be reached" in here.failure("service_status", unit="ssh")


def write_journal(file, entries):
    """Write entries, each with its fields and its MESSAGE, a second apart."""
    remote = "/lib/systemd/systemd-journal-remote"
    if not os.path.exists(remote):
        pytest.skip("systemd-journal-remote is not installed, so no journal can be written")
    text = "".join("\n".join([f"__REALTIME_TIMESTAMP={1700000000000000 + n * 1000000}", *fields, f"MESSAGE={message}"]) + "\n\n"
                   for n, (*fields, message) in enumerate(entries))
    subprocess.run([remote, "-o", file, "-"], input=text, text=True, check=True, stderr=subprocess.DEVNULL)


def test_lines_of_a_journal_are_the_last_ones_of_the_unit(managed):
    assert managed.system.result("service_logs", unit="good") == {"unit": "good.service", "lines": []}
    write_journal(managed.journal / "a.journal", [(f"_SYSTEMD_UNIT={unit}.service", text) for unit, text in [
        ("good", "one"), ("other", "secret"), ("good", "two"), ("good", "three"), ("good", "x" * 3000)]])
    lines = managed.system.result("service_logs", unit="good", lines=3)["lines"]
    assert lines == [{"time": "2023-11-14T22:13:22Z", "text": "two"}, {"time": "2023-11-14T22:13:23Z", "text": "three"},
                     {"time": "2023-11-14T22:13:24Z", "text": "x" * 2000}]
    lines = managed.system.result("service", name="good", action="logs")["lines"]
    assert [line["text"][:5] for line in lines] == ["one", "two", "three", "xxxxx"]


def test_lines_of_a_journal_that_only_name_the_unit_are_not_of_it(managed):
    me, other = f"_UID={os.getuid()}", f"_UID={os.getuid() + 1}"
    write_journal(managed.journal / "b.journal", [
        ("UNIT=slow.service", "_PID=1", "of the manager"), ("UNIT=slow.service", "_PID=77", "forged"),
        ("UNIT=slow.service", "PID=1", "forged"), ("_SYSTEMD_USER_UNIT=slow.service", me, "of our unit"),
        ("_SYSTEMD_USER_UNIT=slow.service", other, "of another user"), ("USER_UNIT=slow.service", me, "of our manager"),
        ("USER_UNIT=slow.service", other, "forged")])
    lines = managed.system.result("service_logs", unit="slow")["lines"]
    assert [line["text"] for line in lines] == ["of the manager", "of our unit", "of our manager"]


def test_logs_of_a_journal_that_may_not_be_read_are_not_empty(managed, tmp_path):
    (tmp_path / "system.journal").touch()
    closed = managed.journal / "c.journal"
    closed.symlink_to(tmp_path / "system.journal")  # the toolbox may not read it, and root may
    machine = managed.journal / ("f" * 32)
    try:
        text = managed.system.failure("service_logs", unit="locked")
        assert f"not all of the journal in {managed.journal} can be read: Permission denied" in text
        assert "the group systemd-journal" in text
        closed.unlink()
        assert managed.system.result("service_logs", unit="locked")["lines"] == []
        machine.mkdir()
        (machine / "system.journal").symlink_to(tmp_path / "system.journal")
        assert "Permission denied" in managed.system.failure("service", name="locked", action="logs")
    finally:
        closed.unlink(missing_ok=True)
        shutil.rmtree(machine, ignore_errors=True)


def test_logs_without_a_journal_say_which_setting_to_write(tmp_path):
    one = System(tmp_path / "service", settings={"units": ["good"]})
    try:
        assert "`toolboxes.system.journals` of the configuration names no folder" in one.failure("service_logs", unit="good")
    finally:
        one.close()


# ── toolboxd itself ────────────────────────────────────────────────────────────────────────────────


def test_calls_and_failures_of_tools_are_counted(tmp_path):
    one = System(tmp_path / "service", toolbox_dirs=[SHIPPED])
    try:
        assert one.result("tool_statistics") == {"toolboxes": [], "calls": 0, "failures": 0, "left_out": 0}
        for b in [1, 2, 0]:
            one.caller.invoke("divide", {"a": 1, "b": b})
        one.result("memory_usage")
        everything = one.result("tool_statistics")
        assert (everything["calls"], everything["failures"]) == (5, 1)
        assert [(box["toolbox_id"], [(tool["name"], tool["calls"], tool["failures"]) for tool in box["tools"]])
                for box in everything["toolboxes"]] == [
            ("math_tools", [("divide", 3, 1)]), ("system", [("memory_usage", 1, 0), ("tool_statistics", 1, 0)])]
        assert all(0 < tool["p50_ms"] <= tool["p99_ms"] for box in everything["toolboxes"] for tool in box["tools"])
        assert one.caller.invoke("subtract", {"a": "one", "b": 1})["code"] == "invalid_arguments"
        math = one.result("tool_statistics", toolbox="math_tools")["toolboxes"][0]["tools"]
        assert {"name": "subtract", "calls": 1, "failures": 1} in math
        assert [box["toolbox_id"] for box in one.result("tool_statistics", toolbox="system")["toolboxes"]] == ["system"]
        assert "did you mean math_tools?" in one.failure("tool_statistics", toolbox="math_tool")
        assert "Without `toolbox`, all" in one.failure("tool_statistics", toolbox="weather")
    finally:
        one.close()


def test_a_caller_gets_no_figures_of_tools_that_it_does_not_see(tmp_path):
    one = System(tmp_path / "service", toolbox_dirs=[SHIPPED], toolboxd={
        "profiles": {"narrow": {"tool_names": ["system/*"]}, "wide": {"tool_names": ["all"]}},
        "access": [{"match": {"source": "narrow"}, "profile": "narrow"}, {"match": {}, "profile": "wide"}]})
    try:
        one.caller.invoke("divide", {"a": 1, "b": 1})
        assert [box["toolbox_id"] for box in one.result("tool_statistics")["toolboxes"]] == ["math_tools"]
        answer = one.caller.call("ovos.tools.invoke", {"name": "tool_statistics", "args": {}}, {"source": "narrow"})
        assert [box["toolbox_id"] for box in answer["result"]["toolboxes"]] == ["system"]
    finally:
        one.close()


# ── a voice ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lang, utterance, words", [
    ("en", "what's the time", r"It is \d\d:\d\d\."),
    ("en", "what time is it in Tokyo?", r"It is \d\d:\d\d\."),
    ("de", "Wie spät ist es?", r"Es ist \d\d:\d\d Uhr\."),
    ("de", "wie viel Uhr ist es in New York", r"Es ist \d\d:\d\d Uhr\."),
    ("en", "what is the cpu temperature", r"The processor has 48\.3 degrees Celsius\."),
    ("de", "Wie warm ist der Prozessor?", r"Der Prozessor hat 48\.3 Grad\."),
    ("en", "how full is the battery", r"The battery is at 83 percent\."),
    ("de", "wie voll ist der Akku", r"Der Akku ist bei 83 Prozent\."),
    ("en", "how much memory is in use", r"25 percent of the memory is in use\."),
    ("de", "wie lautet deine IP-Adresse", r"Die Adresse ist 10\.0\.2\.15\."),
])
def test_a_person_is_answered_in_words(device, tmp_path, lang, utterance, words):
    ended = toolboxctl("say", "--lang", lang, utterance, bus=device.service.url, home=tmp_path)
    assert ended.returncode == 0 and re.fullmatch(words + r"\n", ended.stdout), (ended.stdout, ended.stderr)


# ── the sandbox ────────────────────────────────────────────────────────────────────────────────────


def test_no_more_than_the_kernels_files_is_opened(here, tmp_path):
    ended = toolboxctl("check", FOLDER / "system.json", home=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    if not IS_SANITIZED:
        assert "refused while loading" not in ended.stdout
    listed = here.caller.call("ovos.tools.list", {})["tools"]
    assert sorted(one["name"] for one in listed if one["risk"] == "read") == sorted(READ)
    assert [one["name"] for one in listed if one["risk"] == "execute"] == ["service"] and len(listed) == len(READ) + 1


def test_what_is_opened_shows_no_environment_of_another_process():
    """A probe in the sandbox of the manifest. landlock guards /proc/PID/environ of others, but not from root."""
    home = Path(tempfile.mkdtemp(prefix="system-"))
    home.chmod(0o755)
    user = PLAIN_USER if os.geteuid() == 0 else None
    sandbox = json.loads((FOLDER / "system.json").read_text())["sandbox"]
    sandbox["read"] = [path for path in sandbox["read"] if path.startswith("/")]
    (home / "box").mkdir()
    shutil.copy(BUILD / "tests/toolboxes/toolbox.d/libtest_probe.so", home / "box")
    (home / "box/peek.json").write_text(json.dumps({
        "kind": "native", "library": "libtest_probe.so", "risk": "read", "sandbox": sandbox, "tools": [{
            "name": "peek", "native": {"symbol": "open_to_read", "parameters": [{"name": "path", "type": "str"}],
                                       "returns": {"type": "i32"}}}]}))
    if user:
        (home / "service").mkdir()
        os.chown(home / "service", user, user)
    other = subprocess.Popen(["sleep", "600"], **({"user": user, "group": user, "extra_groups": []} if user else {}))
    try:
        with Service("embedded", home / "service", [home / "box"], user=user) as service, Caller(service.url) as caller:
            def peek(path):
                return caller.invoke("peek", {"path": f"/proc/{other.pid}/{path}"})["result"]["result"]

            assert (peek("stat"), peek("environ"), peek("mem")) == (0, errno.EACCES, errno.EACCES)
    finally:
        other.kill()
        other.wait()
        shutil.rmtree(home)
