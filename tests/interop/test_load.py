# SPDX-License-Identifier: Apache-2.0
"""Many callers at once: everybody gets every answer of theirs, once, with their own context."""
import json
import threading

from caller import Caller
from processes import SLOWNESS

CALLERS = 8
CALLS = 10000 // CALLERS
WINDOW = 8  # requests a caller has open at once: with all of them, the default queue is just full
INVOKE = "ovos.tools.invoke"


def call_many(url, who, outcome, all_done):
    """CALLS invokes of add with WINDOW in flight; in outcome[who] what went wrong.

    Nobody leaves before all are done: when a client of ovos-messagebus closes while somebody else
    sends, the bus fails in the middle of the broadcast and closes the sender's connection."""
    wrong, open_calls, sent = [], {}, 0
    with Caller(url) as caller:
        peer = caller.peer
        while sent < CALLS or open_calls:
            while sent < CALLS and len(open_calls) < WINDOW:
                context = {"source": f"caller-{who}", "n": sent, "who": who}
                open_calls[sent] = who * CALLS + sent
                peer.send(json.dumps({"type": INVOKE, "context": context, "data": {
                    "name": "add", "args": {"a": open_calls[sent], "b": sent}}}))
                sent += 1
            text = peer.receive(30 * SLOWNESS)
            # Seven in eight frames are for the others: parse only our own.
            if f'"who": {who}' not in text or ".response" not in text:
                continue
            message = json.loads(text)
            number = message["context"]["n"]
            expected = open_calls.pop(number, None)
            if expected is None:
                wrong.append(f"answered twice: {text}")
            elif message["data"].get("result") != {"result": expected + number}:
                wrong.append(text)
            elif message["context"] != {"source": f"caller-{who}", "n": number, "who": who,
                                        "destination": f"caller-{who}"}:
                wrong.append(text)
        late = [one for one in caller.settle() if one.type == INVOKE + ".response"
                and one.context.get("who") == who]
        wrong += [repr(one) for one in late]
        all_done.wait(60 * SLOWNESS)
    outcome[who] = wrong


def test_ten_thousand_invokes_by_eight_callers(service, caller):
    def counted():
        status = caller.call("ovos.tools.status")
        return {one["toolbox_id"]: one["calls"] for one in status["toolboxes"]}["math_tools"]

    before, outcome, all_done = counted(), {}, threading.Barrier(CALLERS)
    threads = [threading.Thread(target=call_many, args=(service.url, who, outcome, all_done))
               for who in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcome == {who: [] for who in range(CALLERS)}
    assert counted() - before == CALLERS * CALLS
