/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_STRINGIFY_H
#define COMMON_STRINGIFY_H

/* The replacement of the macro @number, a plain number, as a string literal. */
#define STRINGIFY(number)      STRINGIFY_TEXT(number)
#define STRINGIFY_TEXT(number) #number

#endif
