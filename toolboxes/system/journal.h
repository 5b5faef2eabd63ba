/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_JOURNAL_H
#define SYSTEM_JOURNAL_H

#include <toolbox.h>

/* Answer @call with the last @n lines of the journal about the unit @name, the oldest first. The
 * folders of the journal are in `journals` of @configuration. */
void journal_answer(struct toolbox_call call, struct toolbox_call configuration, const char *name,
	unsigned int n);

#endif
