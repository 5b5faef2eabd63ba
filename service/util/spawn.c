/* SPDX-License-Identifier: Apache-2.0 */
#include "util/spawn.h"

#include <signal.h>

int spawn_attributes_set(posix_spawnattr_t *attributes)
{
	short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t all, none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawnattr_setflags(attributes, flags);
	r = r ? r : posix_spawnattr_setpgroup(attributes, 0);
	r = r ? r : posix_spawnattr_setsigdefault(attributes, &all);
	return r ? r : posix_spawnattr_setsigmask(attributes, &none);
}
