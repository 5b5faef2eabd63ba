/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

/* The end of a process in the place of another one, whose parent it is: the parent of both learns
 * how the other one ended. */

/* End with the exit status of @end, or by its signal (waitid()). Does not return. */
__attribute__((noreturn)) void ending_end_like(const siginfo_t *end);
