# SPDX-License-Identifier: Apache-2.0
"""A satellite of HiveMind, run by hivemind_site.py with the interpreter that has hivemind-bus-client: each line of stdin
is a message for the hub, or `reconnect`, each message from there is a line of stdout.

usage: satellite.py PORT NAME ACCESS_KEY PASSWORD"""
import json
import socket
import sys
import time

from hivemind_bus_client import HiveMessageBusClient
from hivemind_bus_client.message import HiveMessageType
from ovos_bus_client.message import Message


def receive(hive_message):
    message = hive_message.payload
    print(json.dumps({"type": message.msg_type, "data": message.data, "context": message.context}), flush=True)


port, name, key, password = sys.argv[1:]
client = HiveMessageBusClient(key=key, password=password, host="ws://127.0.0.1", port=int(port), useragent=name)
client.on(HiveMessageType.BUS, receive)
client.connect()
client.wait_for_handshake()
print(json.dumps({"type": "connected"}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "reconnect":
        client.client.sock.sock.shutdown(socket.SHUT_RDWR)
        while client.handshake_event.is_set():
            time.sleep(0.05)
        client.handshake_event.wait()
        print(json.dumps({"type": "connected"}), flush=True)
        continue
    client.emit(Message(message["type"], message["data"], message["context"]))
