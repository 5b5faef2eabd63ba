/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The replacement of the macro @number as a string literal, for a text with the number of a limit
 * in it. The macro must be a plain number: an expression would be in the text as it is. */
#define STRINGIFY(number)      STRINGIFY_TEXT(number)
#define STRINGIFY_TEXT(number) #number
