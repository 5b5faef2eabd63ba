/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

/*
 * libcurl, loaded by its first use, for toolboxctl and toolbox-agent: linked, libcurl and its
 * twenty libraries would slow each start.
 */
struct library {
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_easy_getinfo) easy_getinfo;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&curl_easy_setopt) easy_setopt;
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_free) free;
	__typeof__(&curl_multi_add_handle) multi_add_handle;
	__typeof__(&curl_multi_assign) multi_assign;
	__typeof__(&curl_multi_cleanup) multi_cleanup;
	__typeof__(&curl_multi_info_read) multi_info_read;
	__typeof__(&curl_multi_init) multi_init;
	__typeof__(&curl_multi_remove_handle) multi_remove_handle;
	__typeof__(&curl_multi_setopt) multi_setopt;
	__typeof__(&curl_multi_socket_action) multi_socket_action;
	__typeof__(&curl_slist_append) slist_append;
	__typeof__(&curl_slist_free_all) slist_free_all;
	__typeof__(&curl_url) url;
	__typeof__(&curl_url_cleanup) url_cleanup;
	__typeof__(&curl_url_get) url_get;
	__typeof__(&curl_url_set) url_set;
};

/* Return libcurl, loaded once; NULL with *ret_reason a text for a person, valid until the next
 * dlopen(3). */
const struct library *library_load(const char **ret_reason);
