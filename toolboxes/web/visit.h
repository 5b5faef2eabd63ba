/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_VISIT_H
#define WEB_VISIT_H

#include "fetch.h"

/* Get the page at @url: heed robots.txt of each site on the way, and follow at most ten redirects.
 * Return false with @why; the status of a page that came is below 400. The caller frees @ret_url
 * and deinits @ret, both zeroed before, in any case. */
bool visit(const struct fetch *fetch, const char *url, struct fetch_url *ret_url,
	struct fetched *ret, struct text *why);

#endif
