/* SPDX-License-Identifier: Apache-2.0 */
#include "config/rules.h"

#include "config/fields.h"
#include "util/array.h"
#include "util/digest.h"

#define MATCH                                                                                      \
	CONFIG_TEXT("match.source", match.source),                                                 \
		CONFIG_TEXT("match.session_id", match.session_id),                                 \
		CONFIG_TEXT("match.site_id", match.site_id)

#define FIELDS_OF struct config_access
static const struct config_field access_fields[] = {MATCH, CONFIG_TEXT("profile", profile)};
#undef FIELDS_OF

#define FIELDS_OF struct config_caller
static const struct config_field caller_fields[] = {
	MATCH,
	CONFIG_NUMBER("in_flight", in_flight, 0),
	CONFIG_NUMBER("per_minute", per_minute, 0),
	CONFIG_NUMBER("burst", burst, 0),
};
#undef FIELDS_OF

int config_access_read(const struct json_tape *tape, uint32_t value,
	struct config_access **ret_rules, size_t *ret_n)
{
	return config_records_read(tape, value, access_fields, ARRAY_SIZE(access_fields),
		sizeof(**ret_rules), (void **)ret_rules, ret_n);
}

void config_access_free(struct config_access *rules, size_t n)
{
	config_records_free(access_fields, ARRAY_SIZE(access_fields), sizeof(*rules), rules, n);
}

int config_callers_read(const struct json_tape *tape, uint32_t value,
	struct config_caller **ret_rules, size_t *ret_n, uint64_t *ret_digest)
{
	const char *text;
	size_t size;
	int r = config_records_read(tape, value, caller_fields, ARRAY_SIZE(caller_fields),
		sizeof(**ret_rules), (void **)ret_rules, ret_n);

	for (size_t i = 0; i < *ret_n; i++)
		if ((*ret_rules)[i].burst == 0)
			(*ret_rules)[i].burst = (*ret_rules)[i].per_minute;
	if (value == JSON_NONE)
		return r;
	text = json_value_text(tape, value, &size);
	*ret_digest = digest_bytes(DIGEST_SEED, text, size);
	return r;
}

void config_callers_free(struct config_caller *rules, size_t n)
{
	config_records_free(caller_fields, ARRAY_SIZE(caller_fields), sizeof(*rules), rules, n);
}
