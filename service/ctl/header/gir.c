/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/gir.h"

#include <errno.h>
#include <glob.h>
#include <libxml/parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/text/text.h"

/* The most bytes of a description. */
#define DESCRIPTION_BYTES 400

/* Deeper elements are not looked at. */
#define DEPTH_MAX 8

struct gir_reading {
	struct gir *gir;
	int error;
};

/* ── elements ────────────────────────────────────────────────────────────────────────────────── */

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* Return the attribute @name, whatever its namespace, as a new string; NULL: there is none. */
static char *take_attribute(struct gir_reading *reading, const xmlNode *node, const char *name)
{
	const xmlAttr *attribute = node->properties;
	xmlChar *value;
	char *copy;

	while (attribute && strcmp((const char *)attribute->name, name) != 0)
		attribute = attribute->next;
	if (!attribute)
		return NULL;
	value = xmlNodeListGetString(node->doc, attribute->children, 1);
	copy = value ? strdup((const char *)value) : strdup("");
	xmlFree(value);
	if (!copy)
		reading->error = -ENOMEM;
	return copy;
}

static bool has_attribute(
	struct gir_reading *reading, const xmlNode *node, const char *name, const char *value)
{
	cleanup_free char *found = take_attribute(reading, node, name);

	return found && strcmp(found, value) == 0;
}

static const xmlNode *find_child(const xmlNode *node, const char *name)
{
	const xmlNode *child = node->children;

	while (child && !is_element(child, name))
		child = child->next;
	return child;
}

/* ── descriptions ────────────────────────────────────────────────────────────────────────────── */

/* Append the first paragraph of @text as one line, without the marks of gtk-doc: #GList, %NULL,
 * @name and `code`. */
static void write_gir_text(const char *text, struct buffer *out)
{
	bool is_blank = true;

	for (; *text && out->size < DESCRIPTION_BYTES; text++) {
		if (text[0] == '\n' && text[1] == '\n')
			break;
		if (strchr(" \n\t\r", *text)) {
			if (!is_blank)
				buffer_append_char(out, ' ');
			is_blank = true;
		} else if (!strchr("#%@`", *text) || !text[1] || strchr(" \n", text[1])) {
			buffer_append_char(out, *text);
			is_blank = false;
		}
	}
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
}

static char *read_description(struct gir_reading *reading, const xmlNode *node)
{
	const xmlNode *doc = find_child(node, "doc");
	cleanup(buffer_deinit) struct buffer out = {0};
	char *description;
	xmlChar *text;

	if (!doc)
		return NULL;
	text = xmlNodeListGetString(doc->doc, doc->children, 1);
	if (text)
		write_gir_text((const char *)text, &out);
	xmlFree(text);
	if (out.size == 0 && buffer_status(&out) == 0)
		return NULL;
	description = buffer_take(&out, NULL);
	if (!description)
		reading->error = -ENOMEM;
	return description;
}

/* ── functions ───────────────────────────────────────────────────────────────────────────────── */

/* Return the number of a parameter, or GIR_NONE for other words. */
static int read_index(const char *text, int first)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && n < INT_MAX ? first + (int)n : GIR_NONE;
}

/* Read a parameter or the returned value. @first: the number of the first parameter that an index
 * counts. */
static void read_gir_value(
	struct gir_reading *reading, const xmlNode *node, int first, struct gir_value *ret_value)
{
	const xmlNode *array = find_child(node, "array");
	cleanup_free char *length = array ? take_attribute(reading, array, "length") : NULL;
	bool is_inout = has_attribute(reading, node, "direction", "inout");

	*ret_value = (struct gir_value){
		.description = read_description(reading, node),
		.is_out = is_inout || has_attribute(reading, node, "direction", "out"),
		.is_inout = is_inout,
		.is_owned = has_attribute(reading, node, "transfer-ownership", "full"),
		.is_nullable = has_attribute(reading, node, "nullable", "1") ||
			       has_attribute(reading, node, "optional", "1") ||
			       has_attribute(reading, node, "allow-none", "1"),
		.is_array = array != NULL,
		.length = length ? read_index(length, first) : GIR_NONE,
	};
}

static void read_gir_parameters(
	struct gir_reading *reading, const xmlNode *list, struct gir_function *function)
{
	int first = find_child(list, "instance-parameter") ? 1 : 0;

	for (const xmlNode *node = list->children; node; node = node->next) {
		if (!is_element(node, "parameter") && !is_element(node, "instance-parameter"))
			continue;
		if (array_grow(function->parameters, function->n_parameters) < 0) {
			reading->error = -ENOMEM;
			return;
		}
		read_gir_value(
			reading, node, first, &function->parameters[function->n_parameters++]);
	}
}

static void read_gir_function(struct gir_reading *reading, const xmlNode *node)
{
	struct gir *gir = reading->gir;
	const xmlNode *returned = find_child(node, "return-value");
	const xmlNode *parameters = find_child(node, "parameters");
	char *name = take_attribute(reading, node, "identifier");
	struct gir_function *function;

	if (!name)
		return;
	if (array_grow(gir->functions, gir->n_functions) < 0) {
		free(name);
		reading->error = -ENOMEM;
		return;
	}
	function = &gir->functions[gir->n_functions++];
	*function = (struct gir_function){
		.name = name,
		.description = read_description(reading, node),
		.is_hidden = has_attribute(reading, node, "introspectable", "0"),
		.throws = has_attribute(reading, node, "throws", "1"),
		.returned.length = GIR_NONE,
	};
	if (parameters)
		read_gir_parameters(reading, parameters, function);
	if (returned)
		read_gir_value(reading, returned,
			parameters && find_child(parameters, "instance-parameter") ? 1 : 0,
			&function->returned);
}

/* Read all functions below @node: of the namespace, and of classes, records and enums in it. */
static void read_gir_functions(struct gir_reading *reading, const xmlNode *node, unsigned int depth)
{
	for (const xmlNode *child = node->children; child && reading->error == 0;
		child = child->next) {
		if (is_element(child, "function") || is_element(child, "constructor") ||
			is_element(child, "method"))
			read_gir_function(reading, child);
		else if (child->type == XML_ELEMENT_NODE && depth < DEPTH_MAX)
			read_gir_functions(reading, child, depth + 1);
	}
}

/* ── the file ────────────────────────────────────────────────────────────────────────────────── */

static void read_header_name(struct gir_reading *reading, const xmlNode *node)
{
	struct gir *gir = reading->gir;

	if (array_grow(gir->headers, gir->n_headers) < 0) {
		reading->error = -ENOMEM;
		return;
	}
	gir->headers[gir->n_headers] = take_attribute(reading, node, "name");
	gir->n_headers += gir->headers[gir->n_headers] != NULL;
}

static void read_repository(struct gir_reading *reading, const xmlNode *root)
{
	struct gir *gir = reading->gir;

	for (const xmlNode *node = root->children; node && reading->error == 0; node = node->next) {
		/* <c:include> is a header, <include> another GIR file. */
		if (is_element(node, "include") && node->ns &&
			strcmp((const char *)node->ns->prefix ? (const char *)node->ns->prefix : "",
				"c") == 0)
			read_header_name(reading, node);
		else if (is_element(node, "package") && !gir->package)
			gir->package = take_attribute(reading, node, "name");
		if (!is_element(node, "namespace"))
			continue;
		if (!gir->library)
			gir->library = take_attribute(reading, node, "shared-library");
		read_gir_functions(reading, node, 0);
	}
	if (gir->n_functions > 0)
		qsort(gir->functions, gir->n_functions, sizeof(*gir->functions), text_compare);
}

/* Write the path of the GIR file @name. Return false when there is none. */
static bool find_gir_file(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("XDG_DATA_DIRS");
	glob_t found;
	bool is_found;

	if (!folders || !*folders)
		folders = "/usr/local/share:/usr/share";
	while (*folders) {
		size_t size = strcspn(folders, ":");

		snprintf(path, PATH_MAX, "%.*s/gir-1.0/%s.gir", (int)size, folders, name);
		if (access(path, R_OK) == 0)
			return true;
		folders += size + (folders[size] == ':');
	}
	/* Debian has files for one architecture apart. */
	snprintf(path, PATH_MAX, "/usr/lib/*/gir-1.0/%s.gir", name);
	if (glob(path, 0, NULL, &found) != 0)
		return false;
	is_found = found.gl_pathc > 0;
	if (is_found)
		snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is_found;
}

static int refuse_gir(struct buffer *message, const char *name, const char *words)
{
	buffer_printf(message, "%s.gir %s\n", name, words);
	return buffer_status(message) ? buffer_status(message) : 1;
}

int gir_read_text(const char *text, size_t size, const char *name, struct gir *ret_gir,
	struct buffer *message)
{
	struct gir gir = {0};
	struct gir_reading reading = {.gir = &gir};
	xmlDoc *document;

	/* No network, no messages, no entities from other files. */
	document = xmlReadMemory(size > 0 ? text : "", (int)size, NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS);
	if (!document || !xmlDocGetRootElement(document)) {
		xmlFreeDoc(document);
		return refuse_gir(message, name, "is no XML");
	}
	read_repository(&reading, xmlDocGetRootElement(document));
	xmlFreeDoc(document);
	if (reading.error == 0 && gir.n_headers == 0)
		reading.error = refuse_gir(message, name, "names no header of C");
	if (reading.error) {
		gir_deinit(&gir);
		return reading.error;
	}
	*ret_gir = gir;
	return 0;
}

int gir_read(const char *name, struct gir *ret_gir, struct buffer *message)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char path[PATH_MAX];
	int r;

	if (strpbrk(name, "/*?[") || !find_gir_file(name, path))
		return refuse_gir(message, name,
			"is in no folder gir-1.0 of XDG_DATA_DIRS: is the -dev package of the "
			"library installed?");
	r = file_read(path, GIR_BYTES_MAX, &text);
	return r < 0 ? r : gir_read_text(text.data, text.size, name, ret_gir, message);
}

void gir_deinit(struct gir *gir)
{
	for (size_t i = 0; i < gir->n_functions; i++) {
		struct gir_function *function = &gir->functions[i];

		for (size_t j = 0; j < function->n_parameters; j++)
			free(function->parameters[j].description);
		free(function->parameters);
		free(function->returned.description);
		free(function->description);
		free(function->name);
	}
	for (size_t i = 0; i < gir->n_headers; i++)
		free(gir->headers[i]);
	free(gir->headers);
	free(gir->functions);
	free(gir->package);
	free(gir->library);
	*gir = (struct gir){0};
}

const struct gir_function *gir_find(const struct gir *gir, const char *name)
{
	const struct gir_function key = {.name = (char *)name};

	if (!gir || gir->n_functions == 0)
		return NULL;
	return bsearch(
		&key, gir->functions, gir->n_functions, sizeof(*gir->functions), text_compare);
}
