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
