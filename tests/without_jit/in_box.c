/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "deny.h"

/*
 * Unit programs without machine code, when WITHOUT_JIT is in their environment.
 *
 * Criterion runs each test in a process of its own (which has BXFI_MAP in its environment). The
 * library writes over `main` there, in a constructor: that would be denied, were without-jit to
 * start the whole program. The constructors of a program run after its libraries' constructors.
 */
__attribute__((constructor)) static void deny_in_box(void)
{
	if (getenv("WITHOUT_JIT") && getenv("BXFI_MAP") && !deny_machine_code())
		abort();
}
