/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/spawn.h"

#include <signal.h>

static int set_attributes(posix_spawnattr_t *attributes)
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

int spawn_process(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,
	char *const *arguments, char *const *environment)
{
	posix_spawnattr_t attributes;
	int r = posix_spawnattr_init(&attributes);

	if (r)
		return r;
	r = set_attributes(&attributes);
	r = r ? r : posix_spawn(ret_pid, program, actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	return r;
}
