/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "catalogue/catalogue.h"
#include "catalogue/definition.h"
#include "core/state.h"
#include "util/buffer.h"

/* What is offered, told: each answers the request in service->envelope. */

/* ovos.tools.list: definitions, in one of four formats. */
void listing_list(struct service *service);

/* ovos.tools.get: one definition. */
void listing_get(struct service *service);

/* ovos.persona.tools.discover: one response for each toolbox. */
void listing_discover(struct service *service);

/* Append the array of the definitions that the toolbox @toolbox_id of @size bytes (NULL: all of
 * them; an unknown one: none) has in @catalogue. */
void listing_write(const struct catalogue *catalogue, const char *toolbox_id, size_t size,
	enum definition_format format, struct buffer *out);
