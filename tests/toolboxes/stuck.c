/* SPDX-License-Identifier: Apache-2.0 */

/* A library that never finishes loading: its constructor waits for what does not come. */

#include <unistd.h>

__attribute__((constructor)) static void wait_for_ever(void)
{
	for (;;)
		pause();
}

int nothing(void);

int nothing(void)
{
	return 0;
}
