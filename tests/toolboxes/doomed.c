/* SPDX-License-Identifier: Apache-2.0 */

/* A library that takes its process down: the constructor aborts. */

#include <stdlib.h>

__attribute__((constructor)) static void take_down(void)
{
	abort();
}

int nothing(void);

int nothing(void)
{
	return 0;
}
