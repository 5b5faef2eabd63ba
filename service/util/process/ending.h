/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

/* The end of a process in the manner of its child: the parent of the process learns how the child
 * ended. */

/* End with the exit status of @end, or by its signal (waitid()). Does not return. */
__attribute__((noreturn)) void ending_end_like(const siginfo_t *end);
