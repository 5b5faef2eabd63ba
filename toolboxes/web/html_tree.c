/* SPDX-License-Identifier: Apache-2.0 */
#include "html_tree.h"

#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ── kinds ───────────────────────────────────────────────────────────────────────────────────── */

/* Sorted by name. */
static const struct element {
	const char *name;
	enum html_kind kind;
} elements[] = {
	{"a", HTML_LINK},
	{"address", HTML_BLOCK},
	{"applet", HTML_SKIPPED},
	{"article", HTML_BLOCK},
	{"aside", HTML_FRAME},
	{"audio", HTML_SKIPPED},
	{"base", HTML_SKIPPED},
	{"blockquote", HTML_QUOTE},
	{"body", HTML_BLOCK},
	{"br", HTML_BREAK},
	{"button", HTML_SKIPPED},
	{"canvas", HTML_SKIPPED},
	{"caption", HTML_BLOCK},
	{"center", HTML_BLOCK},
	{"code", HTML_CODE},
	{"colgroup", HTML_BLOCK},
	{"datalist", HTML_SKIPPED},
	{"dd", HTML_DETAIL},
	{"details", HTML_BLOCK},
	{"dialog", HTML_SKIPPED},
	{"dir", HTML_LIST},
	{"div", HTML_BLOCK},
	{"dl", HTML_BLOCK},
	{"dt", HTML_BLOCK},
	{"embed", HTML_SKIPPED},
	{"fieldset", HTML_BLOCK},
	{"figcaption", HTML_BLOCK},
	{"figure", HTML_BLOCK},
	{"footer", HTML_FRAME},
	{"form", HTML_BLOCK},
	{"frame", HTML_SKIPPED},
	{"h1", HTML_HEADING},
	{"h2", HTML_HEADING},
	{"h3", HTML_HEADING},
	{"h4", HTML_HEADING},
	{"h5", HTML_HEADING},
	{"h6", HTML_HEADING},
	{"head", HTML_BLOCK},
	{"header", HTML_HEADER},
	{"hgroup", HTML_BLOCK},
	{"hr", HTML_RULE},
	{"html", HTML_BLOCK},
	{"iframe", HTML_SKIPPED},
	{"img", HTML_IMAGE},
	{"input", HTML_SKIPPED},
	{"kbd", HTML_CODE},
	{"legend", HTML_BLOCK},
	{"li", HTML_ITEM},
	{"link", HTML_SKIPPED},
	{"listing", HTML_PRE},
	{"main", HTML_BLOCK},
	{"map", HTML_SKIPPED},
	{"math", HTML_SKIPPED},
	{"menu", HTML_FRAME},
	{"meta", HTML_SKIPPED},
	{"meter", HTML_SKIPPED},
	{"nav", HTML_FRAME},
	{"noframes", HTML_BLOCK},
	{"noscript", HTML_SKIPPED},
	{"object", HTML_SKIPPED},
	{"ol", HTML_LIST},
	{"optgroup", HTML_SKIPPED},
	{"option", HTML_SKIPPED},
	{"p", HTML_PARAGRAPH},
	{"plaintext", HTML_PRE},
	{"pre", HTML_PRE},
	{"progress", HTML_SKIPPED},
	{"samp", HTML_CODE},
	{"script", HTML_SKIPPED},
	{"section", HTML_BLOCK},
	{"select", HTML_SKIPPED},
	{"style", HTML_SKIPPED},
	{"summary", HTML_BLOCK},
	{"svg", HTML_SKIPPED},
	{"table", HTML_TABLE},
	{"tbody", HTML_BLOCK},
	{"td", HTML_CELL},
	{"template", HTML_SKIPPED},
	{"textarea", HTML_SKIPPED},
	{"tfoot", HTML_BLOCK},
	{"th", HTML_CELL},
	{"thead", HTML_BLOCK},
	{"title", HTML_SKIPPED},
	{"tr", HTML_ROW},
	{"tt", HTML_CODE},
	{"ul", HTML_LIST},
	{"video", HTML_SKIPPED},
	{"xmp", HTML_PRE},
};

static int compare_names(const void *name, const void *element)
{
	return strcmp(name, ((const struct element *)element)->name);
}

enum html_kind html_tree_kind(const xmlNode *node)
{
	const struct element *found = NULL;

	if (node->type == XML_ELEMENT_NODE && node->name)
		found = bsearch(node->name, elements, sizeof(elements) / sizeof(elements[0]),
			sizeof(elements[0]), compare_names);
	return found ? found->kind : HTML_INLINE;
}

bool html_tree_is(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

const char *html_tree_attribute(const xmlNode *node, const char *name)
{
	if (node->type != XML_ELEMENT_NODE)
		return NULL;
	for (const xmlAttr *attribute = node->properties; attribute; attribute = attribute->next)
		if (strcmp((const char *)attribute->name, name) == 0)
			return attribute->children && attribute->children->content
				       ? (const char *)attribute->children->content
				       : "";
	return NULL;
}

/* ── parsing ─────────────────────────────────────────────────────────────────────────────────── */

/* The attributes that are kept. */
static const char *const attributes[] = {
	"href", "src", "alt", "role", "hidden", "aria-hidden", "style", "start", NULL};

struct reading {
	const struct html_page *page;
	size_t at;
	size_t n_elements;
	size_t depth;
	bool is_cut;
};

static struct reading *reading_of(void *context)
{
	return ((xmlParserCtxt *)context)->_private;
}

/* Copy the attributes in @all that are kept to @kept. */
static void choose_attributes(const xmlChar **all, const xmlChar **kept)
{
	size_t n = 0;

	for (size_t i = 0; all && all[i]; i += 2)
		for (size_t j = 0; attributes[j]; j++)
			if (strcmp((const char *)all[i], attributes[j]) == 0 &&
				n + 2 < 2 * sizeof(attributes) / sizeof(attributes[0])) {
				kept[n++] = all[i];
				kept[n++] = all[i + 1];
			}
	kept[n] = NULL;
}

/* libxml2 calls this and end_element() in pairs. */
static void start_element(void *context, const xmlChar *name, const xmlChar **all)
{
	struct reading *reading = reading_of(context);
	const xmlChar *kept[2 * sizeof(attributes) / sizeof(attributes[0])];

	if (++reading->n_elements > HTML_ELEMENTS_MAX) {
		reading->is_cut = true;
		xmlStopParser(context);
	}
	if (++reading->depth > HTML_DEPTH_MAX)
		return;
	choose_attributes(all, kept);
	xmlSAX2StartElement(context, name, kept[0] ? kept : NULL);
}

static void end_element(void *context, const xmlChar *name)
{
	if (reading_of(context)->depth-- <= HTML_DEPTH_MAX)
		xmlSAX2EndElement(context, name);
}

/* Skip a script or a style sheet. */
static void skip_script(void *context, const xmlChar *text, int size)
{
	(void)context;
	(void)text;
	(void)size;
}

/* Hand the next bytes of the page to libxml2. */
static int read_bytes(void *context, char *to, int room)
{
	struct reading *reading = context;
	size_t n = reading->page->size - reading->at;

	if (n > 0 && reading->page->is_late(reading->page->data)) {
		reading->is_cut = true;
		return 0;
	}
	n = n < (size_t)room ? n : (size_t)room;
	memcpy(to, reading->page->bytes + reading->at, n);
	reading->at += n;
	return (int)n;
}

xmlDoc *html_tree_parse(const struct html_page *page, bool *ret_is_cut)
{
	const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
			    HTML_PARSE_NONET | HTML_PARSE_COMPACT;
	struct reading reading = {.page = page};
	htmlParserCtxt *context = htmlNewParserCtxt();
	xmlDoc *document;

	*ret_is_cut = false;
	if (!context)
		return NULL;
	context->_private = &reading;
	context->sax->startElement = start_element;
	context->sax->endElement = end_element;
	context->sax->comment = NULL;
	context->sax->processingInstruction = NULL;
	context->sax->cdataBlock = skip_script;
	document = htmlCtxtReadIO(context, read_bytes, NULL, &reading, NULL, "UTF-8", options);
	htmlFreeParserCtxt(context);
	*ret_is_cut = reading.is_cut;
	return document;
}

/* ── the main part ───────────────────────────────────────────────────────────────────────────── */

/* Return whether @style hides its element. */
static bool hides(const char *style)
{
	char word[64];
	size_t n = 0;

	for (; *style; style++) {
		if (n + 1 < sizeof(word) && !strchr(" \t\r\n", *style))
			word[n++] = *style;
		word[n] = '\0';
		if (*style == ';')
			n = 0;
		if (strcasecmp(word, "display:none") == 0 ||
			strcasecmp(word, "visibility:hidden") == 0)
			return true;
	}
	return false;
}

static bool is_role(const xmlNode *node, const char *roles)
{
	const char *role = html_tree_attribute(node, "role");
	char word[32];

	return role && strlen(role) < sizeof(word) - 2 && strlen(role) > 0 &&
	       sprintf(word, " %s ", role) > 0 && strcasestr(roles, word);
}

/* Return whether @node is inside of an article or of the main part. */
static bool is_in_article(const xmlNode *node)
{
	for (; node; node = node->parent)
		if (html_tree_is(node, "article") || html_tree_is(node, "main"))
			return true;
	return false;
}

static bool is_frame(const xmlNode *node)
{
	enum html_kind kind = html_tree_kind(node);

	return kind == HTML_FRAME || (kind == HTML_HEADER && !is_in_article(node)) ||
	       is_role(node, " navigation banner contentinfo search complementary menu menubar ");
}

bool html_tree_leaves_out(const xmlNode *node, bool has_frames)
{
	const char *style;
	const char *hidden;

	if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
		return false;
	if (node->type != XML_ELEMENT_NODE || html_tree_kind(node) == HTML_SKIPPED)
		return true;
	style = html_tree_attribute(node, "style");
	hidden = html_tree_attribute(node, "aria-hidden");
	if (html_tree_attribute(node, "hidden") || (style && hides(style)) ||
		(hidden && strcasecmp(hidden, "true") == 0))
		return true;
	return !has_frames && is_frame(node);
}

/* Return the node after @node in the order of the text, below @root. */
static const xmlNode *next_node(const xmlNode *node, const xmlNode *root, bool enters)
{
	if (enters && node->type == XML_ELEMENT_NODE && node->children)
		return node->children;
	while (node && node != root && !node->next)
		node = node->parent;
	return node && node != root ? node->next : NULL;
}

const xmlNode *html_tree_find(const xmlDoc *document, const char *name)
{
	const xmlNode *root = xmlDocGetRootElement(document);

	for (const xmlNode *node = root; node; node = next_node(node, root, true))
		if (html_tree_is(node, name))
			return node;
	return NULL;
}

/* Return <main>, else a single <article>, else NULL. */
static const xmlNode *find_marked(const xmlNode *body)
{
	const xmlNode *article = NULL;
	size_t n_articles = 0;
	const xmlNode *next;

	for (const xmlNode *node = body; node; node = next) {
		bool is_out = html_tree_leaves_out(node, false);

		next = next_node(node, body, !is_out);
		if (is_out)
			continue;
		if (html_tree_is(node, "main") || is_role(node, " main "))
			return node;
		if (html_tree_is(node, "article")) {
			article = node;
			n_articles++;
			next = next_node(node, body, false);
		}
	}
	return n_articles == 1 ? article : NULL;
}

/* Weigh @node, and keep the weight in `_private`: the bytes of text that are in no link. */
static size_t weigh(xmlNode *node)
{
	size_t weight = 0;

	if (html_tree_leaves_out(node, false) || html_tree_kind(node) == HTML_LINK)
		return 0;
	if (node->type != XML_ELEMENT_NODE) {
		for (const xmlChar *at = node->content; at && *at; at++)
			weight += *at > ' ';
		return weight;
	}
	for (xmlNode *child = node->children; child; child = child->next)
		weight += weigh(child);
	node->_private = (void *)(uintptr_t)weight;
	return weight;
}

/* Return the block below @node that has nearly all of its text, or NULL. */
static const xmlNode *find_heavy(const xmlNode *node)
{
	size_t weight = (size_t)(uintptr_t)node->_private;

	for (const xmlNode *child = node->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && html_tree_kind(child) == HTML_BLOCK &&
			(size_t)(uintptr_t)child->_private * 8 > weight * 7)
			return child;
	return NULL;
}

/* libxml2 does not know <main> and <nav>: after a title they are in the head. So the search begins
 * at the root. */
const xmlNode *html_tree_main(const xmlDoc *document)
{
	const xmlNode *body = xmlDocGetRootElement(document);
	const xmlNode *marked = body ? find_marked(body) : NULL;

	if (!body || marked)
		return marked;
	weigh((xmlNode *)(uintptr_t)body);
	for (const xmlNode *heavy = body; heavy; heavy = find_heavy(heavy))
		body = heavy;
	return body;
}
