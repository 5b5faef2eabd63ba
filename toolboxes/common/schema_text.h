/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_SCHEMA_TEXT_H
#define COMMON_SCHEMA_TEXT_H

/* Argument schemas as string literals: an object that allows no other members, and its members. */

#define OBJECT(required, properties)                                                               \
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required              \
	"],\"properties\":{" properties "}}"
#define STRING(name, description)                                                                  \
	"\"" name "\":{\"type\":\"string\",\"minLength\":1,\"description\":\"" description "\"}"
#define NUMBER(name, minimum, fallback, description)                                               \
	"\"" name "\":{\"type\":\"integer\",\"minimum\":" minimum fallback                         \
	",\"description\":\"" description "\"}"
#define FLAG(name, fallback, description)                                                          \
	"\"" name "\":{\"type\":\"boolean\",\"default\":" fallback                                 \
	",\"description\":\"" description "\"}"

#endif
