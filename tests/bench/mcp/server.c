/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The least server of the Model Context Protocol over stdio: one tool, `add`, of the modern era,
 * whose result is always the same. It reads the messages of toolboxd, which have their members in
 * one order, and no others.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"result\":{\"resultType\":\"complete\","

static void answer(uint64_t id, const char *method)
{
	if (strcmp(method, "server/discover") == 0)
		printf(RESULT
			"\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
			"\"ttlMs\":3600000,\"cacheScope\":\"private\"}}\n",
			id);
	else if (strcmp(method, "tools/list") == 0)
		printf(RESULT
			"\"tools\":[{\"name\":\"add\",\"description\":\"Add.\",\"inputSchema\":{"
			"\"type\":"
			"\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"
			"\"integer\"}}},\"annotations\":{\"readOnlyHint\":true}}],"
			"\"ttlMs\":3600000,\"cacheScope\":\"private\"}}\n",
			id);
	else
		printf(RESULT "\"content\":[{\"type\":\"text\",\"text\":\"5\"}]}}\n", id);
	fflush(stdout);
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		char method[64];
		uint64_t id;

		if (sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%" SCNu64 ",\"method\":\"%63[^\"]\"",
			    &id, method) == 2)
			answer(id, method);
	}
	free(line);
	return 0;
}
