/* SPDX-License-Identifier: Apache-2.0 */
#include "config/closing.h"

#include <stdlib.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/* A diagnostic_function. */
static void close_by(void *data, const struct diagnostic *diagnostic)
{
	struct config_closing *closing = data;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!closing->is_closed) {
		diagnostic_write(diagnostic, &text);
		closing->text = buffer_take(&text, NULL);
	}
	closing->is_closed = true;
	closing->outer.function(closing->outer.data, diagnostic);
}

void config_closing_init(struct config_closing *closing, const struct diagnostic_sink *outer)
{
	*closing = (struct config_closing){.sink = {close_by, closing}, .outer = *outer};
}

void config_closing_deinit(struct config_closing *closing)
{
	free(closing->text);
	closing->text = NULL;
}
