/* SPDX-License-Identifier: Apache-2.0 */
#include "util/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t environment_size(const char *environment)
{
	const char *entry = environment;

	if (!environment)
		return 0;
	while (*entry)
		entry = environment_next(entry);
	return (size_t)(entry + 1 - environment);
}

size_t environment_count(const char *environment)
{
	size_t n = 0;

	for (const char *entry = environment; entry && *entry; entry = environment_next(entry))
		n++;
	return n;
}

bool environment_names(const char *environment, const char *entry)
{
	size_t size = strcspn(entry, "=") + 1;

	for (const char *own = environment; own && *own; own = environment_next(own))
		if (strncmp(own, entry, size) == 0)
			return true;
	return false;
}

int environment_compare(const char *left, const char *right)
{
	size_t left_size = environment_size(left);
	size_t right_size = environment_size(right);

	if (left_size != right_size)
		return left_size < right_size ? -1 : 1;
	return left_size > 0 ? memcmp(left, right, left_size) : 0;
}

int environment_copy(const char *environment, char **ret_copy)
{
	size_t size = environment_size(environment);
	char *copy = NULL;

	if (size > 0) {
		copy = malloc(size);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, environment, size);
	}
	*ret_copy = copy;
	return 0;
}

const char *environment_locale(void)
{
	const char *locale = getenv("LC_ALL");

	if (!locale || !*locale)
		locale = getenv("LC_CTYPE");
	if (!locale || !*locale)
		locale = getenv("LANG");
	return locale && *locale ? locale : NULL;
}
