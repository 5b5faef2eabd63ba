# SPDX-License-Identifier: Apache-2.0
"""What benches share with tests/bench/judge about the instructions that callgrind counts."""
import re
import subprocess
import sys

CONTROL_SECONDS = 600


def total(report):
    """The instructions in what callgrind wrote."""
    return int(re.search(r"^(?:totals|summary): (\d+)", report, re.M)[1])


def control(daemon, order):
    """Let callgrind zero its counters (-z) or dump them (-d)."""
    done = subprocess.run(["callgrind_control", order, str(daemon.process.pid)],
                          capture_output=True, text=True, timeout=CONTROL_SECONDS, check=False)
    if done.returncode or "OK" not in done.stdout:
        sys.exit("callgrind_control reaches no daemon that waits, which takes the right to trace it "
                 f"(root):\n{done.stdout}{done.stderr}")


def dump(daemon, out):
    """What callgrind, told to write to @out, writes now about the running daemon."""
    control(daemon, "-d")
    dumps = out.parent.glob(f"{out.name}.*")
    return max(dumps, key=lambda path: int(path.suffix[1:])).read_text()
