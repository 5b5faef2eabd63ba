/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/warn/settings.h"

#include <errno.h>
#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "loader/operator/state_folder.h"
#include "util/cleanup.h"

/* Set @ret_has when the object @text (NULL: none) has the member @name, and with an @id, in its
 * member @id. 0 or -ENOMEM. */
static int find_setting(const char *text, const char *id, const char *name, bool *ret_has)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t object;

	if (!text)
		return 0;
	if (json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	object = id ? json_find_typed_at(&tape, 0, id, JSON_OBJECT) : 0;
	if ((!id || object != JSON_NONE) && json_find(&tape, object, name) != JSON_NONE)
		*ret_has = true;
	return 0;
}

/* Keep @setting, a name without its '$', unless it has a meaning. 0 or -ENOMEM. */
static int keep_unknown(const struct config *config, const struct config_toolbox *own,
	const char *setting, struct package *package)
{
	const char *dot = strchr(setting, '.');
	cleanup_free char *id = dot ? strndup(setting, (size_t)(dot - setting)) : NULL;
	const char *name = dot ? dot + 1 : setting;
	const struct config_toolbox *other;
	bool is_known = strcmp(setting, STATE_FOLDER_SETTING) == 0;
	int r;

	if (dot && !id)
		return -ENOMEM;
	r = find_setting(package->config, id, name, &is_known);
	r = r ? r : find_setting(own->config, id, name, &is_known);
	other = r == 0 && id ? config_toolbox_find(config, id) : NULL;
	if (other)
		r = find_setting(other->config, NULL, name, &is_known);
	return r || is_known ? r : text_list_add(&package->unknown_settings, setting);
}

int warn_keep_unknown_settings(const struct config *config, struct package *package)
{
	const struct config_toolbox *own = config_toolbox_find(config, package->id);
	const struct toolbox_sandbox *sandbox = &package->sandbox;
	const struct text_list *lists[2];
	int r = 0;

	if (!own || package->kind != KIND_PLUGIN)
		return 0;
	lists[0] = &own->sandbox.read.list;
	lists[1] = &own->sandbox.write.list;
	for (size_t i = 0; r == 0 && i < 2; i++)
		for (size_t k = 0; r == 0 && k < lists[i]->n_items; k++) {
			const char *item = lists[i]->items[k];

			if (sandbox_path_is_setting(item) &&
				!text_list_has(&sandbox->read.list, item) &&
				!text_list_has(&sandbox->write.list, item))
				r = keep_unknown(config, own, item + 1, package);
		}
	return r;
}
