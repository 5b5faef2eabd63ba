/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/reader.h"

/*
 * The check of one layer: every value of its sections by the schema of its place.
 *
 *   {"toolboxd": {"idle_s": -1, "aproval": {}}, …}     ─▶ two mistakes, of which one closes
 *                  └── not used   └── unknown, near a key that closes
 *
 * A value that is a mistake does not count: the value of a lower layer does, or the default.
 */

/* Check the sections of @layer; @is_client: only `websocket`, which a client needs. Failures are in
 * reader->error. */
void config_check_layer(struct config_reader *reader, struct config_layer *layer, bool is_client);
