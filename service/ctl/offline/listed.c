/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/offline/listed.h"

#include <string.h>

#include "core/listing/listing.h"
#include "ctl/command.h"
#include "ctl/offline/private.h"
#include "ctl/terminal.h"

/* `failed` or `check` reports the problems. */
static void ignore_problem(void *data, const struct diagnostic *problem)
{
	(void)data;
	(void)problem;
}

int listed_load(const char *toolbox_dir, const char *file, enum offline_asking asking,
	struct catalogue **ret_catalogue)
{
	const struct config_flags flags = {
		.toolbox_dirs = &toolbox_dir,
		.n_toolbox_dirs = toolbox_dir ? 1 : 0,
	};
	cleanup(config_deinit) struct config config = {0};
	char reason[OFFLINE_WHY_BYTES];
	struct diagnostic_counts counts = {0};
	int r = private_expect_folder(toolbox_dir);

	if (r != 0)
		return r;
	r = config_read(&flags, diagnostic_print, &counts, &config);
	if (r < 0)
		terminal_complain("the configuration cannot be read: %s", strerror(-r));
	if (r == 0 && config.closed)
		terminal_complain("nothing is offered with this configuration");
	if (r != 0 || config.closed)
		return CTL_ERROR;
	r = offline_load(&config, file ? &file : NULL, file ? 1 : 0, ignore_problem, NULL,
		ret_catalogue, asking, reason);
	if (r == 0)
		return CTL_DONE;
	terminal_complain("%s", reason);
	return CTL_ERROR;
}

int listed_write(const struct catalogue *catalogue, const char *toolbox_id,
	enum definition_format format, bool has_reasons, struct ctl_response *ret_response)
{
	const struct text_view wanted = {toolbox_id, toolbox_id ? strlen(toolbox_id) : 0};
	struct buffer *out = &ret_response->text;
	int r;

	buffer_printf(out, "{\"%s\":", listing_member(format));
	listing_write(catalogue, wanted.text, wanted.size, format, out);
	if (has_reasons) {
		buffer_append_string(out, ",\"failed\":");
		listing_write_failed(catalogue, &wanted, out);
		buffer_append_string(out, ",\"not_offered\":");
		listing_write_not_offered(catalogue, &wanted, out);
	}
	buffer_append_char(out, '}');
	r = buffer_status(out);
	return r < 0 ? r
		     : json_tape_read(&ret_response->tape, out->data, out->size,
			       2 * JSON_DEPTH_DEFAULT, NULL);
}
