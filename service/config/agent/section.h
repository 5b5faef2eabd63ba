/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "bus/address.h"
#include "config/layers/flags.h"
#include "config/reader.h"
#include "util/diagnostic.h"

/* A part of the configuration for a program other than the daemon: all layers are read and checked
 * as for the daemon (config/config.h), and the program takes what it needs. */

/* Call @read with the merged configuration and @target. Return 0, with *ret_closed whether the
 * configuration is closed; or as config_read(). */
int config_section_read(const struct config_flags *flags, diagnostic_function report, void *data,
	void (*read)(struct config_reader *reader, void *target), void *target, bool *ret_closed);

/* Return the address of the bus for a client, with the token if this user can read it. */
struct bus_address config_section_bus(struct config_reader *reader);

/* Return the string at @path, which the caller frees, or NULL. */
char *config_section_text(struct config_reader *reader, const char *path);
