/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/log.h"

static void setup_free(void *data)
{
	struct setup *setup = data;

	check(setup->n_chats == 0);
	list_remove(&setup->link);
	loop_timer_deinit(&setup->idle);
	model_free(setup->model);
	config_agent_deinit(&setup->config);
	free(setup);
}

int setup_new(struct loop *loop, struct list *setups, struct config_agent *config,
	struct setup **ret_setup)
{
	struct setup *setup = calloc(1, sizeof(*setup));
	const char *reason = strerror(ENOMEM);
	int r;

	if (!setup)
		return -ENOMEM;
	list_append(setups, &setup->link);
	setup->config = *config;
	*config = (struct config_agent){0};
	config = &setup->config;
	setup->settings = (struct model_settings){
		.base_url = config->base_url ? config->base_url : CONFIG_AGENT_BASE_URL,
		.key = config->key,
		.proxy = config->proxy,
	};
	r = loop_timer_init(&setup->idle, loop, setup_free, setup);
	r = r ? r : model_new(loop, &setup->settings, &setup->model, &reason);
	if (r == -ENOSYS)
		log_error("There is no libcurl: %s", reason);
	if (r < 0) {
		setup_free(setup);
		return r;
	}
	*ret_setup = setup;
	return 0;
}

struct setup *setup_hold(struct setup *setup)
{
	setup->n_chats++;
	return setup;
}

void setup_release(struct setup *setup)
{
	if (setup && --setup->n_chats == 0 && setup->is_retired)
		loop_timer_arm(&setup->idle, 0);
}

void setup_retire(struct setup *setup)
{
	setup->is_retired = true;
	if (setup->n_chats == 0)
		loop_timer_arm(&setup->idle, 0);
}

void setups_free(struct list *setups)
{
	while (setups->next && !list_is_empty(setups))
		setup_free(container_of(setups->next, struct setup, link));
}
