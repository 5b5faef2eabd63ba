/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_generate.h"

#include <stdbool.h>

#include "schema_oracle.h"
#include "schema_patterns.h"

#define SCHEMA_DEPTH_MAX 5
#define VALUE_DEPTH_MAX  3
#define KEYWORDS_MAX     4
#define CHILDREN_MAX     4

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct generator {
	struct choices *choices;
	struct buffer *out;
	bool is_old; /* draft-07 */
};

/* Numbers that are equal, nearly equal, long, and not what a double makes of them. */
static const char *const numbers[] = {"0", "1", "2", "3", "-1", "1.0", "0.5", "1e0", "10", "1e1",
	"-0", "0.1", "0.3", "0.30", "-2.5", "1E-2", "0.01", "9007199254740993", "9007199254740992",
	"9007199254740993.0", "1e20", "100000000000000000000", "123456789012345678",
	"123456789012345679", "123456789012345678.5", "-0.0", "1.5", "4", "0.75", "1e-7"};

/* Divisors are greater than 0. */
static const char *const divisors[] = {"1", "2", "3", "0.5", "0.1", "0.01", "1.0", "1e-7", "0.3",
	"10", "1.5", "100000000000000000000", "7"};

static const char *const strings[] = {"\"\"", "\"a\"", "\"b\"", "\"ab\"", "\"c\"", "\"aab\"",
	"\"\\u0061\"", "\"\xc3\xa9\"", "\"\\u00e9\"", "\"a\\u0000\"", "\"\\ud83d\\ude00\"",
	"\"\xf0\x9f\x98\x80\"", "\"a\\nb\"", "\"abcdefghij\"", "\"abcdefghik\"",
	"\"\xe2\x80\xa8\xe2\x80\xa8\"", "\"1\"", "\"true\"", "\"b\xc3\xa9\\u0062\"", "\"ba\""};

static const char *const names[] = {"\"a\"", "\"b\"", "\"c\"", "\"ab\"", "\"\xc3\xa9\"",
	"\"abcdefghi\"", "\"abcdefghj\"", "\"\""};

/* The same names, some of them written otherwise. */
static const char *const written_names[] = {"\"a\"", "\"b\"", "\"c\"", "\"ab\"", "\"\\u00e9\"",
	"\"abcdefghi\"", "\"\\u0061bcdefghj\"", "\"\""};

static const char *const types[] = {"\"object\"", "\"array\"", "\"string\"", "\"integer\"",
	"\"number\"", "\"boolean\"", "\"null\""};

static const char *const references[] = {"#/$defs/a", "#/$defs/b", "#/$defs/c", "#", "#here", "x",
	"x#here", "x#/$defs/a", "y", "#node", "y#node", "x#node"};

static unsigned int pick(struct generator *g, size_t count)
{
	unsigned int byte = g->choices->at < g->choices->end ? *g->choices->at++ : 0;

	return byte % (unsigned int)count;
}

#define PICK(g, list) ((list)[pick(g, COUNT(list))])

static void schema(struct generator *g, unsigned int depth);
static void value(struct generator *g, unsigned int depth);

static void write_text(struct generator *g, const char *text)
{
	buffer_append_string(g->out, text);
}

/* "[" or "{", up to CHILDREN_MAX things that @write writes, at least @least, and the end. */
static void write_list(struct generator *g, unsigned int least,
	void (*write)(struct generator *g, unsigned int depth), unsigned int depth)
{
	unsigned int count = least + pick(g, CHILDREN_MAX);

	write_text(g, "[");
	for (unsigned int i = 0; i < count; i++) {
		write_text(g, i > 0 ? "," : "");
		write(g, depth);
	}
	write_text(g, "]");
}

/* An object whose keys are some of @keys, in their order or from another start on. */
static void write_map(struct generator *g, const char *const *keys, unsigned int n_keys,
	void (*write)(struct generator *g, unsigned int depth), unsigned int depth)
{
	unsigned int start = pick(g, n_keys);
	unsigned int chosen = pick(g, 256);
	const char *before = "";

	write_text(g, "{");
	for (unsigned int i = 0; i < n_keys; i++) {
		if (!(chosen >> i & 1))
			continue;
		buffer_printf(g->out, "%s%s:", before, keys[(start + i) % n_keys]);
		write(g, depth);
		before = ",";
	}
	write_text(g, "}");
}

static void value(struct generator *g, unsigned int depth)
{
	switch (pick(g, depth < VALUE_DEPTH_MAX ? 9 : 5)) {
	case 0:
		write_text(g, "null");
		break;
	case 1:
		write_text(g, pick(g, 2) ? "true" : "false");
		break;
	case 2:
	case 3:
		write_text(g, PICK(g, numbers));
		break;
	case 4:
		write_text(g, PICK(g, strings));
		break;
	case 5:
	case 6:
		write_list(g, 0, value, depth + 1);
		break;
	default:
		write_map(g, written_names, COUNT(written_names), value, depth + 1);
		break;
	}
}

static void name_list(struct generator *g, unsigned int depth)
{
	unsigned int chosen = pick(g, 256);
	const char *before = "";

	(void)depth;
	write_text(g, "[");
	for (unsigned int i = 0; i < COUNT(names); i++) {
		if (!(chosen >> i & 1))
			continue;
		buffer_printf(g->out, "%s%s", before, names[i]);
		before = ",";
	}
	write_text(g, "]");
}

static void schema_or_names(struct generator *g, unsigned int depth)
{
	if (pick(g, 2))
		name_list(g, depth);
	else
		schema(g, depth);
}

static void type_list(struct generator *g)
{
	unsigned int first = pick(g, COUNT(types));

	if (pick(g, 3) == 0)
		buffer_printf(g->out, "[%s,%s]", types[first], types[(first + 1) % COUNT(types)]);
	else
		write_text(g, types[first]);
}

static void write_pattern(struct generator *g)
{
	unsigned int count = 0;

	while (patterns[count])
		count++;
	buffer_printf(g->out, "\"%s\"", patterns[pick(g, count)]);
}

static void pattern_map(struct generator *g, unsigned int depth)
{
	unsigned int first = pick(g, 5);

	buffer_printf(g->out, "{\"%s\":", patterns[first]);
	schema(g, depth);
	if (pick(g, 2)) {
		buffer_printf(g->out, ",\"%s\":", patterns[first + 1]);
		schema(g, depth);
	}
	write_text(g, "}");
}

static void write_reference(struct generator *g)
{
	const char *reference = PICK(g, references);

	if (!g->is_old || reference[0] != '#' || reference[1] != '/')
		buffer_printf(g->out, "\"%s\"", reference);
	else
		buffer_printf(g->out, "\"#/definitions/%s\"", reference + 8);
}

/* The shapes of keywords' values. */
enum shape {
	TYPES,
	VALUE,
	VALUES,
	NUMBER,
	DIVISOR,
	SIZE,
	BOOLEAN,
	PATTERN,
	SCHEMA,
	SCHEMAS,
	PROPERTIES,
	PATTERNS,
	NAMES,
	NAME_LISTS,
	DEPENDENCIES,
	REFERENCE,
	ITEMS,
};

static const struct {
	const char *name;
	enum shape shape;
	bool is_new; /* not in draft-07 */
} keywords[] = {{"type", TYPES, false}, {"enum", VALUES, false}, {"const", VALUE, false},
	{"minimum", NUMBER, false}, {"maximum", NUMBER, false}, {"exclusiveMinimum", NUMBER, false},
	{"exclusiveMaximum", NUMBER, false}, {"multipleOf", DIVISOR, false},
	{"minLength", SIZE, false}, {"maxLength", SIZE, false}, {"pattern", PATTERN, false},
	{"items", ITEMS, false}, {"prefixItems", SCHEMAS, true}, {"additionalItems", SCHEMA, false},
	{"contains", SCHEMA, false}, {"minContains", SIZE, true}, {"maxContains", SIZE, true},
	{"minItems", SIZE, false}, {"maxItems", SIZE, false}, {"uniqueItems", BOOLEAN, false},
	{"unevaluatedItems", SCHEMA, true}, {"properties", PROPERTIES, false},
	{"patternProperties", PATTERNS, false}, {"additionalProperties", SCHEMA, false},
	{"propertyNames", SCHEMA, false}, {"required", NAMES, false},
	{"minProperties", SIZE, false}, {"maxProperties", SIZE, false},
	{"dependentRequired", NAME_LISTS, true}, {"dependentSchemas", PROPERTIES, true},
	{"dependencies", DEPENDENCIES, false}, {"unevaluatedProperties", SCHEMA, true},
	{"allOf", SCHEMAS, false}, {"anyOf", SCHEMAS, false}, {"oneOf", SCHEMAS, false},
	{"not", SCHEMA, false}, {"if", SCHEMA, false}, {"then", SCHEMA, false},
	{"else", SCHEMA, false}, {"$ref", REFERENCE, false}, {"$dynamicRef", REFERENCE, true},
	{"unevaluatedProperties", SCHEMA, true}, {"properties", PROPERTIES, false},
	{"unevaluatedItems", SCHEMA, true}, {"anyOf", SCHEMAS, false}};

static void keyword_value(struct generator *g, enum shape shape, unsigned int depth)
{
	switch (shape) {
	case TYPES:
		type_list(g);
		break;
	case VALUE:
		value(g, 1);
		break;
	case VALUES:
		write_list(g, 0, value, 1);
		break;
	case NUMBER:
		write_text(g, PICK(g, numbers));
		break;
	case DIVISOR:
		write_text(g, PICK(g, divisors));
		break;
	case SIZE:
		buffer_printf(g->out, "%u", pick(g, 4));
		break;
	case BOOLEAN:
		write_text(g, pick(g, 4) ? "true" : "false");
		break;
	case PATTERN:
		write_pattern(g);
		break;
	case SCHEMA:
		schema(g, depth);
		break;
	case SCHEMAS:
		write_list(g, 1, schema, depth);
		break;
	case PROPERTIES:
		write_map(g, names, COUNT(names), schema, depth);
		break;
	case PATTERNS:
		pattern_map(g, depth);
		break;
	case NAMES:
		name_list(g, depth);
		break;
	case NAME_LISTS:
		write_map(g, names, COUNT(names), name_list, depth);
		break;
	case DEPENDENCIES:
		write_map(g, names, COUNT(names), schema_or_names, depth);
		break;
	case REFERENCE:
		write_reference(g);
		break;
	case ITEMS:
		if (g->is_old && pick(g, 2))
			write_list(g, 1, schema, depth);
		else
			schema(g, depth);
		break;
	}
}

/* Up to KEYWORDS_MAX keywords, none twice; @before is what comes before the first. */
static void write_keywords(struct generator *g, const char *before, unsigned int depth)
{
	unsigned int count = 1 + pick(g, KEYWORDS_MAX);
	unsigned int used[KEYWORDS_MAX];

	for (unsigned int i = 0; i < count; i++) {
		unsigned int chosen = pick(g, COUNT(keywords));
		bool is_used = keywords[chosen].is_new && g->is_old;

		for (unsigned int k = 0; k < i; k++)
			is_used |= __builtin_strcmp(
					   keywords[used[k]].name, keywords[chosen].name) == 0;
		used[i] = chosen;
		if (is_used)
			continue;
		buffer_printf(g->out, "%s\"%s\":", before, keywords[chosen].name);
		keyword_value(g, keywords[chosen].shape, depth + 1);
		before = ",";
	}
}

static void schema(struct generator *g, unsigned int depth)
{
	unsigned int kind = pick(g, depth < SCHEMA_DEPTH_MAX ? 8 : 2);

	if (kind < 2) {
		write_text(g, kind == 0 ? "true" : "false");
		return;
	}
	write_text(g, "{");
	write_keywords(g, "", depth);
	write_text(g, "}");
}

/* Write the definition @name: plain, with anchors, or a resource of its own. In draft-07 one
 * keyword is alone beside a `$ref`. */
static void definition(struct generator *g, const char *name, const char *head)
{
	buffer_printf(g->out, "\"%s\":{%s", name, head);
	write_keywords(g, head[0] ? "," : "", 2);
	write_text(g, "}");
}

static void write_definitions(struct generator *g)
{
	if (g->is_old) {
		write_text(g, "\"definitions\":{");
		definition(g, "a", "");
		write_text(g, ",");
		definition(g, "b", "");
		write_text(g, ",");
		definition(g, "c", "");
		write_text(g, "}");
		return;
	}
	write_text(g, "\"$defs\":{");
	definition(g, "a", "\"$anchor\":\"here\"");
	write_text(g, ",");
	definition(g, "b",
		"\"$id\":\"x\",\"$dynamicAnchor\":\"node\","
		"\"$defs\":{\"a\":{\"$anchor\":\"here\",\"$dynamicRef\":\"#node\"}}");
	write_text(g, ",");
	definition(g, "c", "\"$id\":\"y\",\"$dynamicAnchor\":\"node\"");
	write_text(g, "}");
}

void generate_schema(struct choices *choices, struct buffer *out)
{
	struct generator g = {choices, out, false};
	unsigned int kind = pick(&g, 6);

	g.is_old = kind == 5;
	write_text(&g, "{");
	if (g.is_old)
		write_text(&g, "\"$schema\":\"http://json-schema.org/draft-07/schema#\",");
	else if (kind == 1 || kind == 2)
		write_text(&g, "\"$dynamicAnchor\":\"node\",");
	if (kind != 0) {
		write_definitions(&g);
		write_keywords(&g, ",", 0);
	} else {
		write_keywords(&g, "", 0);
	}
	write_text(&g, "}");
}

void generate_value(struct choices *choices, struct buffer *out)
{
	struct generator g = {choices, out, false};

	value(&g, 0);
}
