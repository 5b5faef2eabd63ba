/* SPDX-License-Identifier: Apache-2.0 */
#include "util/assert.h"

#include <stdlib.h>

#include "util/log.h"

void check_failed(const char *condition, const char *function, const char *file, int line)
{
	log_error("%s() in %s:%d: the check \"%s\" failed. This is a mistake in toolboxd, please "
		  "report it",
		function, file, line, condition);
	log_finish();
	abort();
}
