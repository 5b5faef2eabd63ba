/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * Call the function at @address as the `native` object @object describes it, with the JSON text
 * @arguments, in this process, where a sanitizer watches all but libffi itself. @free_result frees
 * what is returned (NULL: nothing does). The answer is kept until the next call.
 */
const char *in_process_call(const char *object, void *address, void (*free_result)(void *),
	const char *arguments, bool *ret_is_failure);

/* Whether the `native` object @object is refused when it is read. */
bool in_process_is_refused(const char *object);
