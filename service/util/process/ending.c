/* SPDX-License-Identifier: Apache-2.0 */
#include "util/process/ending.h"

#include <unistd.h>

#define EXIT_BY_SIGNAL 128

void ending_end_like(const siginfo_t *end)
{
	sigset_t none;

	if (end->si_code == CLD_EXITED)
		_exit(end->si_status);
	sigemptyset(&none);
	signal(end->si_status, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(end->si_status);
	_exit(EXIT_BY_SIGNAL + end->si_status);
}
