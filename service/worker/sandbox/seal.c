/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/seal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "wire/wire.h"

bool seal_is_given(size_t index)
{
	const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int seals = fcntl(WIRE_LIBRARY_FD + (int)index, F_GET_SEALS);

	return seals >= 0 && (seals & needed) == needed;
}

int seal_take(const char *name, size_t index, struct seal *ret_seal)
{
	char *copy_of_name = strdup(name);

	if (!copy_of_name)
		return -ENOMEM;
	*ret_seal = (struct seal){.name = copy_of_name,
		.fd = strchr(name, '/') && seal_is_given(index) ? WIRE_LIBRARY_FD + (int)index
								: -1};
	return 0;
}

void *seal_load(struct seal *seal, bool *ret_is_sealed)
{
	char link[sizeof("/proc/self/fd/2147483647")];
	void *library = NULL;

	if (seal->fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", seal->fd);
		library = dlopen(link, RTLD_NOW | RTLD_LOCAL);
		close(take_fd(seal->fd));
	}
	*ret_is_sealed = library != NULL;
	return library ? library : dlopen(seal->name, RTLD_NOW | RTLD_LOCAL);
}

void seal_deinit(struct seal *seal)
{
	free(seal->name);
	if (seal->fd >= 0)
		close(seal->fd);
	*seal = (struct seal){.fd = -1};
}
