/* SPDX-License-Identifier: Apache-2.0 */
#include "visit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "now.h"
#include "robots.h"

#define PAGE_BYTES_MAX   5000000
#define REDIRECTS_MAX    10
#define ROBOTS_BYTES_MAX 500000
#define ROBOTS_MS        10000
/* RFC 9309, 2.3.1.2. */
#define ROBOTS_REDIRECTS_MAX 5
#define ROBOTS_AGENT         "toolboxd"

static bool is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* ── robots.txt ──────────────────────────────────────────────────────────────────────────────── */

/* Get robots.txt at @url, following redirects. Return whether there was an answer. */
static bool get_robots(const struct fetch *fetch, const char *url, struct fetched *ret)
{
	uint64_t end_ms = now_ms() + ROBOTS_MS;
	char *next = strdup(url);
	struct text why = {0};
	bool is_good = next;

	if (end_ms > fetch->end_ms)
		end_ms = fetch->end_ms;
	for (int i = 0; is_good && i <= ROBOTS_REDIRECTS_MAX; i++) {
		struct fetch_url parts = {0};

		fetched_deinit(ret);
		is_good = fetch_url_read(next, &parts, &why) &&
			  fetch_get(fetch, &parts, ROBOTS_BYTES_MAX, end_ms, ret, &why);
		fetch_url_free(&parts);
		if (!is_good || !is_redirect(ret->status) || !ret->redirect)
			break;
		free(next);
		next = strdup(ret->redirect);
		is_good = next;
	}
	free(next);
	text_free(&why);
	return is_good;
}

/* Return whether robots.txt of the site of @url allows the page; otherwise @why has the words. A
 * site that has none, or does not answer, allows all. */
static bool ask_robots(const struct fetch *fetch, const struct fetch_url *url, struct text *why)
{
	struct fetched robots = {0};
	struct text at = {0};
	size_t site = strlen(url->scheme) + strlen("://");
	bool has_answer;

	site += strcspn(url->whole + site, "/?");
	text_add(&at, url->whole, site);
	text_put(&at, "/robots.txt");
	has_answer = get_robots(fetch, text_string(&at), &robots);
	if (has_answer && (robots.status == 401 || robots.status == 403))
		text_printf(why,
			"The site's robots.txt (%s) answers with status %ld, so fetching by "
			"programs is taken as not allowed.",
			text_string(&at), robots.status);
	else if (has_answer && robots.status / 100 == 2 &&
		 !robots_allow(
			 text_string(&robots.body), robots.body.size, ROBOTS_AGENT, url->path))
		text_printf(why,
			"The site's robots.txt (%s) specifies that autonomous fetching of this "
			"page is not allowed.",
			text_string(&at));
	fetched_deinit(&robots);
	text_free(&at);
	return why->size == 0;
}

/* ── the page ────────────────────────────────────────────────────────────────────────────────── */

/* Move @url on to the target of the redirect @fetched. */
static bool follow(struct fetch_url *url, struct fetched *fetched, struct text *why)
{
	char *target = fetched->redirect;
	bool is_good;

	fetched->redirect = NULL;
	fetched_deinit(fetched);
	if (!target) {
		text_put(why, "Request failed: Redirect response missing location header");
		return false;
	}
	fetch_url_free(url);
	is_good = fetch_url_read(target, url, why);
	free(target);
	return is_good;
}

bool visit(const struct fetch *fetch, const char *url, struct fetch_url *ret_url,
	struct fetched *ret, struct text *why)
{
	bool heeds_robots = fetch->settings->heeds_robots;
	bool is_good = fetch_url_read(url, ret_url, why);

	for (int i = 0; is_good; i++) {
		is_good = (!heeds_robots || ask_robots(fetch, ret_url, why)) &&
			  fetch_get(fetch, ret_url, PAGE_BYTES_MAX, fetch->end_ms, ret, why);
		if (!is_good || !is_redirect(ret->status))
			break;
		if (i == REDIRECTS_MAX) {
			text_printf(
				why, "Request failed: Too many redirects (max %d)", REDIRECTS_MAX);
			return false;
		}
		is_good = follow(ret_url, ret, why);
	}
	if (is_good && ret->status >= 400) {
		text_printf(
			why, "Failed to fetch %s - status code %ld", ret_url->whole, ret->status);
		is_good = false;
	}
	return is_good;
}
