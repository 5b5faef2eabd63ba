/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What every host does to itself before it is told what to load, in this order (the sandbox of its
 * toolbox comes after that: worker/sandbox/sandbox.h):
 *
 *   1. dies with its parent, which must still be the one that made the socket @wire_fd
 *   2. keeps no descriptor but 0, 1, 2 and the wire, and gives the wire to no program it may run
 *   3. leaves no core dump
 *   4. reads and writes numbers as C does, whatever a toolbox does to the process's locale
 *
 * Returns 0 or a negative errno; then nothing may be loaded.
 */
int confine(int wire_fd);
