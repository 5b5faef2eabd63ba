# SPDX-License-Identifier: Apache-2.0
"""ovos-phal-plugin-tools without the rest of OVOS: its plugin class on a bus client, until ended.

usage: plugin_service.py HOST PORT"""
import sys

from ovos_bus_client import MessageBusClient
from ovos_phal_plugin_tools import OVOSToolsPHALPlugin
from ovos_utils import wait_for_exit_signal

client = MessageBusClient(sys.argv[1], int(sys.argv[2]), "/core", False)
client.run_in_thread()
client.connected_event.wait()
OVOSToolsPHALPlugin(bus=client)
print("ready", flush=True)
wait_for_exit_signal()
