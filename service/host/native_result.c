/* SPDX-License-Identifier: Apache-2.0 */
#include "host/native_result.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "json/writer.h"
#include "util/utf8.h"

void native_result_narrow(union native_result *result, enum native_type type)
{
	switch (type) {
	case NATIVE_BOOL:
		result->u64 = (uint8_t)result->word != 0;
		break;
	case NATIVE_I8:
		result->i64 = (int64_t)(int8_t)result->word;
		break;
	case NATIVE_I16:
		result->i64 = (int16_t)result->word;
		break;
	case NATIVE_I32:
		result->i64 = (int32_t)result->word;
		break;
	case NATIVE_ISIZE:
		result->i64 = (ssize_t)result->word;
		break;
	case NATIVE_U8:
		result->u64 = (uint8_t)result->word;
		break;
	case NATIVE_U16:
		result->u64 = (uint16_t)result->word;
		break;
	case NATIVE_U32:
		result->u64 = (uint32_t)result->word;
		break;
	case NATIVE_USIZE:
		result->u64 = (size_t)result->word;
		break;
	default:
		break;
	}
}

/* -1, 0 or 1 as the number is negative, zero, or anything else. */
static int sign_of(const union native_result *result, enum native_type type)
{
	switch (type) {
	case NATIVE_BOOL:
	case NATIVE_U8:
	case NATIVE_U16:
	case NATIVE_U32:
	case NATIVE_U64:
	case NATIVE_USIZE:
		return result->u64 != 0;
	case NATIVE_F32:
		return result->f32 < 0 ? -1 : result->f32 != 0;
	case NATIVE_F64:
		return result->f64 < 0 ? -1 : result->f64 != 0;
	default:
		return result->i64 < 0 ? -1 : result->i64 != 0;
	}
}

static bool is_error(
	const struct native_function *function, const union native_result *result, int saved_errno)
{
	switch (function->errors) {
	case NATIVE_ERRORS_NONE:
		return false;
	case NATIVE_ERRORS_NEGATIVE:
		return sign_of(result, function->return_type) < 0;
	case NATIVE_ERRORS_NONZERO:
		return sign_of(result, function->return_type) != 0;
	case NATIVE_ERRORS_ZERO:
		return sign_of(result, function->return_type) == 0;
	case NATIVE_ERRORS_NULL:
		return !result->str;
	case NATIVE_ERRORS_ERRNO:
		return saved_errno != 0;
	}
	return false;
}

/* Whether JSON has a text for it. */
static bool can_be_told(const struct native_function *function, const union native_result *result)
{
	switch (function->return_type) {
	case NATIVE_F32:
		return isfinite(result->f32);
	case NATIVE_F64:
		return isfinite(result->f64);
	case NATIVE_STR:
		if (!result->str)
			return function->return_is_nullable;
		return utf8_is_valid(result->str, strlen(result->str));
	default:
		return true;
	}
}

static void write_value(
	enum native_type type, const union native_result *result, struct buffer *out)
{
	switch (type) {
	case NATIVE_BOOL:
		buffer_append_string(out, result->u64 ? "true" : "false");
		break;
	case NATIVE_U8:
	case NATIVE_U16:
	case NATIVE_U32:
	case NATIVE_U64:
	case NATIVE_USIZE:
		json_write_u64(out, result->u64);
		break;
	case NATIVE_F32:
		json_write_f32(out, result->f32);
		break;
	case NATIVE_F64:
		json_write_f64(out, result->f64);
		break;
	case NATIVE_STR:
		json_write_text(out, result->str);
		break;
	default:
		json_write_i64(out, result->i64);
		break;
	}
}

int native_result_write(const struct native_function *function, const union native_result *result,
	int saved_errno, struct buffer *out)
{
	if (is_error(function, result, saved_errno) || !can_be_told(function, result))
		return NATIVE_RESULT_E_FAILED;
	buffer_append_char(out, '{');
	if (function->return_type != NATIVE_VOID) {
		json_write_key(out, function->return_name);
		write_value(function->return_type, result, out);
	}
	buffer_append_char(out, '}');
	return 0;
}

static void write_float(
	struct buffer *out, enum native_type type, const union native_result *result)
{
	double value = type == NATIVE_F32 ? (double)result->f32 : result->f64;

	if (isnan(value))
		buffer_append_string(out, "NaN");
	else if (isinf(value))
		buffer_append_string(out, value < 0 ? "-infinity" : "infinity");
	else
		write_value(type, result, out);
}

static void write_returned(struct buffer *out, const struct native_function *function,
	const union native_result *result)
{
	switch (function->return_type) {
	case NATIVE_VOID:
		buffer_append_string(out, " failed");
		break;
	case NATIVE_STR:
		if (!result->str)
			buffer_append_string(out, " returned NULL");
		else if (!can_be_told(function, result))
			buffer_append_string(out, " returned text that is not UTF-8");
		else
			buffer_append_string(out, " returned a text");
		break;
	case NATIVE_F32:
	case NATIVE_F64:
		buffer_append_string(out, " returned ");
		write_float(out, function->return_type, result);
		break;
	default:
		buffer_append_string(out, " returned ");
		write_value(function->return_type, result, out);
		break;
	}
}

void native_result_write_failure(const struct native_function *function,
	const union native_result *result, int saved_errno, struct buffer *out)
{
	const char *name = strerrorname_np(saved_errno);
	const char *words = strerrordesc_np(saved_errno);

	buffer_append_string(out, function->symbol);
	write_returned(out, function, result);
	if (saved_errno == 0)
		return;
	if (name)
		buffer_printf(out, ": %s (%s)", name, words);
	else
		buffer_printf(out, ": errno %d", saved_errno);
}
