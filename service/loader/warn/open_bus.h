/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "util/diagnostic.h"

/* Warn of each toolbox of @catalogue whose class is net, unless @config has a token for the
 * embedded bus: its tools can open a connection to a bus without tokens, and call any other
 * tool. */
void warn_open_bus(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Warn of each toolbox of @catalogue with `unix` in its sandbox, where @config has HTTP at a unix
 * socket: its tools can be an administrator there. */
void warn_open_bus_sockets(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Warn when calls of tools of @catalogue ask a person, and no key of @config proves the answers:
 * any client of the bus can give them. */
void warn_open_bus_answers(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Warn of the number of tools of @catalogue without a risk, when the mode of @config lets them run
 * without asking. */
void warn_open_bus_unrated(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);

/* Warn when @config takes guests: any client of the bus can offer tools, beside @catalogue. */
void warn_open_bus_guests(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data);
