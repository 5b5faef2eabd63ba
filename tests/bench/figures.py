# SPDX-License-Identifier: Apache-2.0
"""What benches share with tests/bench/judge: their figures, and the programs beside the daemon."""
import json
import os
from pathlib import Path


def keep_figures(figures):
    """Write @figures, {name: number} (smaller is better, whatever the unit), to the file that
    BENCH_FIGURES names, if it is set."""
    path = os.environ.get("BENCH_FIGURES")
    if path:
        Path(path).write_text(json.dumps(figures))


def programs():
    """Return the folder of the benches' own programs. When judge compares two builds of the daemon,
    both meet those of the new build."""
    build = os.environ.get("NEW_BUILD") or os.environ["TOOLBOXD_BUILD"]
    return Path(build).resolve() / "tests" / "bench"


def two_cpus():
    """Return the CPUs, as sets, for one program and for the programs on the other side of its socket. The scheduler has
    several places for them, of which one can take twice as long as another, and stays with one for a whole run."""
    cpus = sorted(os.sched_getaffinity(0))
    return {cpus[0]}, {cpus[1 % len(cpus)]}


def place(pid, cpus):
    """Have the threads of a process, and the children that it will have, run on @cpus."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), cpus)


def run_alone():
    """Have this program, and the programs that it starts, not be interrupted by others. Return whether this user may."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return False
    return True
