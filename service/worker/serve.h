/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Run the host's side of the wire: load a toolbox, then run one call after the other until the
 * daemon closes its end. Blocks in recv() and in the tools. Return 0 at the end of file, or a
 * negative errno (-EPROTO: the daemon sent a forbidden frame).
 */
int serve_daemon(int wire_fd);

struct driver;

/*
 * As serve_daemon(), in the program after the exec of a host (worker/exec_host.h), with the driver
 * @kind: the sandbox is entered, and lacks @missing ("" for nothing). The environment and the LOAD
 * frame come through LOAD_FD.
 */
int serve_daemon_as(int wire_fd, const char *missing, const struct driver *kind);
