/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* The frames that a host sends to the daemon: through the ring, once it has joined one, or through
 * the wire (wire/ring.h). Only one thread sends at a time. */

/* Return whether the process was started with a ring. */
bool send_has_ring(void);

/* Join the ring of this process, if it was started with one. 0 or a negative errno. */
int send_join_ring(void);

/* Send the frame in @out, and empty the buffer. 0 or a negative errno. */
int send_frame(int wire, struct buffer *out);

/* Finish the answer to the call @id that begins at @start of @out (wire_begin()), by the @status of
 * a driver's invoke(), and send it. An answer that cannot be built or sent (no memory, over 4 GiB)
 * is replaced by a failure. 0 or a negative errno. */
int send_answer(int wire, struct buffer *out, size_t start, uint64_t id, int status);
