/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The host's side of the wire: load, then run one call after the other, until the daemon closes its
 * end. Blocks in recv() and in the tools. 0 at the end of file, or a negative errno (-EPROTO: the
 * daemon sent what it never sends).
 */
int worker_run(int wire_fd);
