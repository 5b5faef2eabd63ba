/* SPDX-License-Identifier: Apache-2.0 */
#include "web/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/array.h"

#define NAME "libcurl.so.4"

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{"curl_easy_cleanup", offsetof(struct library, easy_cleanup)},
	{"curl_easy_getinfo", offsetof(struct library, easy_getinfo)},
	{"curl_easy_init", offsetof(struct library, easy_init)},
	{"curl_easy_setopt", offsetof(struct library, easy_setopt)},
	{"curl_easy_strerror", offsetof(struct library, easy_strerror)},
	{"curl_free", offsetof(struct library, free)},
	{"curl_multi_add_handle", offsetof(struct library, multi_add_handle)},
	{"curl_multi_assign", offsetof(struct library, multi_assign)},
	{"curl_multi_cleanup", offsetof(struct library, multi_cleanup)},
	{"curl_multi_info_read", offsetof(struct library, multi_info_read)},
	{"curl_multi_init", offsetof(struct library, multi_init)},
	{"curl_multi_remove_handle", offsetof(struct library, multi_remove_handle)},
	{"curl_multi_setopt", offsetof(struct library, multi_setopt)},
	{"curl_multi_socket_action", offsetof(struct library, multi_socket_action)},
	{"curl_slist_append", offsetof(struct library, slist_append)},
	{"curl_slist_free_all", offsetof(struct library, slist_free_all)},
	{"curl_url", offsetof(struct library, url)},
	{"curl_url_cleanup", offsetof(struct library, url_cleanup)},
	{"curl_url_get", offsetof(struct library, url_get)},
	{"curl_url_set", offsetof(struct library, url_set)},
};

_Static_assert(sizeof(struct library) == ARRAY_SIZE(symbols) * sizeof(void *),
	"each function has its symbol");

static struct library curl;

/* Find the functions of @handle, and initialise libcurl. */
static bool find_functions(void *handle)
{
	__typeof__(&curl_global_init) init = dlsym(handle, "curl_global_init");

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *function = dlsym(handle, symbols[i].name);

		if (!function)
			return false;
		memcpy((char *)&curl + symbols[i].offset, &function, sizeof(function));
	}
	return init && init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const struct library *library_load(const char **ret_reason)
{
	static bool is_ready;
	void *handle;

	if (is_ready)
		return &curl;
	handle = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		*ret_reason = dlerror();
		return NULL;
	}
	is_ready = find_functions(handle);
	if (is_ready)
		return &curl;
	*ret_reason = NAME " is too old";
	return NULL;
}
