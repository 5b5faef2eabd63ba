/* SPDX-License-Identifier: Apache-2.0 */
#include "html_text.h"

#include <libxml/uri.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * The tree is walked once. White space is not written where it is met: a writer notes that a space,
 * or line ends, are due, and writes them before the next visible character.
 *
 *   <ul><li>one <b>two</b>      ─▶  due: marker "- "      ─▶  "- one two"
 *
 * In a heading, a link or a cell of a table everything is one line: a flat writer. The text of a
 * link and of a cell is written to a text of its own first, since its marks depend on it.
 */

#define URL_SIZE_MAX    2000
#define PREFIX_SIZE_MAX 60
#define COLUMNS_MAX     100

/* The addresses between two looks at the time: one address may take 50 us. */
#define URLS_A_LOOK 256

/* The addresses of one page. */
struct urls {
	const struct html_page *page;
	const char *base; /* of relative links */
	unsigned int n;   /* written so far */
};

struct writer {
	struct text *out;
	struct urls *urls;
	struct text prefix; /* of each line: quotes, indentation of lists */
	size_t common_size; /* the part of the prefix that was in force since the last text */
	char marker[24];    /* due in place of the end of the prefix */
	const char *lead;   /* due after that */
	unsigned int due_lines;
	bool has_due_space;
	bool has_begun; /* something was written */
	bool had_space; /* there was white space before that */
	bool is_flat;
	bool is_link;
	bool has_frames;
	bool has_title; /* a heading of the first level was written */
	bool is_full;
};

static void write_node(struct writer *writer, const xmlNode *node);

/* ── characters ──────────────────────────────────────────────────────────────────────────────── */

static void write_line_end(struct writer *writer, bool is_blank)
{
	size_t size = writer->common_size;

	text_add(writer->out, "\n", 1);
	while (is_blank && size > 0 && writer->prefix.data[size - 1] == ' ')
		size--;
	if (is_blank)
		text_add(writer->out, text_string(&writer->prefix), size);
}

/* Write the prefix of a line. */
static void write_prefix(struct writer *writer)
{
	size_t marker = strlen(writer->marker);

	if (marker > writer->prefix.size)
		marker = writer->prefix.size;
	text_add(writer->out, text_string(&writer->prefix), writer->prefix.size - marker);
	text_add(writer->out, writer->marker, marker);
	writer->marker[0] = '\0';
}

/* Write what is due before a visible character. */
static void begin_text(struct writer *writer)
{
	if (!writer->has_begun || writer->due_lines > 0) {
		for (unsigned int i = 1; writer->has_begun && i <= writer->due_lines; i++)
			write_line_end(writer, i < writer->due_lines);
		write_prefix(writer);
		text_put(writer->out, writer->lead ? writer->lead : "");
		writer->lead = NULL;
	} else if (writer->has_due_space) {
		text_add(writer->out, " ", 1);
	}
	writer->has_begun = true;
	writer->common_size = writer->prefix.size;
	writer->due_lines = 0;
	writer->has_due_space = false;
	writer->is_full |= writer->out->size > HTML_TEXT_MAX || writer->out->has_failed;
}

static uint32_t code_point(const char *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	uint32_t point = size == 1 ? at[0] : at[0] & (0xFFu >> (size + 1));

	for (size_t i = 1; i < size; i++)
		point = point << 6 | (at[i] & 0x3Fu);
	return point;
}

static bool is_space(uint32_t point)
{
	return point == ' ' || (point >= '\t' && point <= '\r') || point == 0xA0 ||
	       (point >= 0x2000 && point <= 0x200A) || point == 0x3000;
}

/* Return whether a reader does not see @point: texts that only a program reads are written so. */
static bool is_invisible(uint32_t point)
{
	return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xAD ||
	       point == 0x200B || point == 0x200E || point == 0x200F ||
	       (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) ||
	       point == 0xFEFF || (point >= 0xFFF9 && point <= 0xFFFB) ||
	       (point >= 0xE0000 && point <= 0xE0FFF);
}

static void write_space(struct writer *writer)
{
	writer->has_due_space = true;
	writer->had_space |= !writer->has_begun;
}

/* Write @bytes, the text of a node. */
static void write_text(struct writer *writer, const char *bytes)
{
	size_t size = strlen(bytes);
	size_t step = 0;

	for (size_t at = 0; at < size && !writer->is_full; at += step) {
		uint32_t point;

		step = utf8_size(bytes + at, size - at);
		if (step == 0) {
			step = 1;
			continue;
		}
		point = code_point(bytes + at, step);
		if (is_space(point)) {
			write_space(writer);
			continue;
		}
		if (is_invisible(point))
			continue;
		begin_text(writer);
		text_add(writer->out, bytes + at, step);
	}
}

/* Write @text, of one line, as it is. */
static void write_made(struct writer *writer, const char *text)
{
	begin_text(writer);
	text_put(writer->out, text);
}

/* ── blocks ──────────────────────────────────────────────────────────────────────────────────── */

/* Let the next text begin after @n line ends. */
static void end_lines(struct writer *writer, unsigned int n)
{
	if (writer->is_flat)
		write_space(writer);
	else if (writer->due_lines < n)
		writer->due_lines = n;
	writer->has_due_space &= writer->is_flat;
}

static void write_children(struct writer *writer, const xmlNode *node)
{
	for (const xmlNode *child = node->children; child && !writer->is_full; child = child->next)
		write_node(writer, child);
}

static void write_block(struct writer *writer, const xmlNode *node, unsigned int n)
{
	end_lines(writer, n);
	write_children(writer, node);
	end_lines(writer, n);
}

/* Write the children of @node below @more, a further prefix. */
static void write_below(struct writer *writer, const xmlNode *node, const char *more)
{
	size_t before = writer->prefix.size;

	if (!writer->is_flat && before + strlen(more) <= PREFIX_SIZE_MAX)
		text_put(&writer->prefix, more);
	write_children(writer, node);
	writer->prefix.size = before;
	if (before < writer->common_size)
		writer->common_size = before;
	if (writer->prefix.data)
		writer->prefix.data[before] = '\0';
}

/* Write an item with the marker @marker. */
static void write_item(struct writer *writer, const xmlNode *node, const char *marker)
{
	char spaces[sizeof(writer->marker)];

	if (writer->is_flat) {
		write_block(writer, node, 1);
		return;
	}
	end_lines(writer, 1);
	snprintf(spaces, sizeof(spaces), "%*s", (int)strlen(marker), "");
	if (writer->prefix.size + strlen(marker) <= PREFIX_SIZE_MAX)
		snprintf(writer->marker, sizeof(writer->marker), "%s", marker);
	write_below(writer, node, spaces);
	writer->marker[0] = '\0';
	end_lines(writer, 1);
}

static void write_list(struct writer *writer, const xmlNode *node)
{
	bool is_ordered = html_tree_is(node, "ol");
	const char *start = html_tree_attribute(node, "start");
	long number = start && *start >= '0' && *start <= '9' ? strtol(start, NULL, 10) : 1;
	unsigned int n = node->parent && html_tree_kind(node->parent) == HTML_ITEM ? 1 : 2;

	if (number < 0 || number > 1000000)
		number = 1;
	end_lines(writer, n);
	for (const xmlNode *child = node->children; child && !writer->is_full;
		child = child->next) {
		char marker[sizeof(writer->marker)] = "- ";

		if (html_tree_kind(child) != HTML_ITEM ||
			html_tree_leaves_out(child, writer->has_frames)) {
			write_node(writer, child);
			continue;
		}
		if (is_ordered)
			snprintf(marker, sizeof(marker), "%ld. ", number++);
		write_item(writer, child, marker);
	}
	end_lines(writer, n);
}

static void write_heading(struct writer *writer, const xmlNode *node)
{
	static const char marks[] = "###### ";
	unsigned int level = (unsigned int)(node->name[1] - '0');
	bool was_flat = writer->is_flat;
	size_t before = writer->out->size;

	end_lines(writer, 2);
	writer->lead = was_flat ? NULL : marks + 6 - level;
	writer->is_flat = true;
	write_children(writer, node);
	writer->is_flat = was_flat;
	writer->lead = NULL;
	writer->has_title |= level == 1 && writer->out->size > before;
	end_lines(writer, 2);
}

/* ── preformatted text ───────────────────────────────────────────────────────────────────────── */

/* Append the text of @node, with its white space, to @code. */
static void gather_code(const struct writer *writer, const xmlNode *node, struct text *code)
{
	for (const xmlNode *child = node->children; child; child = child->next) {
		if (html_tree_leaves_out(child, writer->has_frames))
			continue;
		if (child->type != XML_ELEMENT_NODE)
			text_put(code, child->content ? (const char *)child->content : "");
		else if (html_tree_kind(child) == HTML_BREAK)
			text_put(code, "\n");
		else
			gather_code(writer, child, code);
	}
}

/* Return the longest run of backticks in @code. */
static size_t longest_ticks(const char *code)
{
	size_t longest = 0;

	for (size_t n; *code; code += n ? n : 1) {
		n = strspn(code, "`");
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void write_fence(struct writer *writer, size_t size)
{
	end_lines(writer, 1);
	begin_text(writer);
	for (size_t i = 0; i < size; i++)
		text_add(writer->out, "`", 1);
	end_lines(writer, 1);
}

/* Write one line of code. */
static void write_code_line(struct writer *writer, const char *line, size_t size)
{
	size_t step = 0;

	begin_text(writer);
	for (size_t at = 0; at < size; at += step) {
		step = utf8_size(line + at, size - at);
		if (step > 0 && (line[at] == '\t' || !is_invisible(code_point(line + at, step))))
			text_add(writer->out, line + at, step);
		step = step ? step : 1;
	}
	writer->due_lines = 1;
}

static void write_pre(struct writer *writer, const xmlNode *node)
{
	struct text code = {0};
	size_t fence;
	const char *at;

	gather_code(writer, node, &code);
	while (code.size > 0 && strchr(" \t\r\n", code.data[code.size - 1]))
		code.data[--code.size] = '\0';
	at = text_string(&code);
	at += *at == '\n';
	fence = longest_ticks(at);
	fence = fence < 3 ? 3 : fence + 1;
	end_lines(writer, 2);
	if (*at && fence <= PREFIX_SIZE_MAX) {
		write_fence(writer, fence);
		while (*at && !writer->is_full) {
			size_t size = strcspn(at, "\n");

			write_code_line(writer, at, size);
			at += size + (at[size] == '\n');
		}
		write_fence(writer, fence);
	}
	writer->is_full |= code.has_failed;
	text_free(&code);
	end_lines(writer, 2);
}

/* ── parts of a line ─────────────────────────────────────────────────────────────────────────── */

/* Write the children of @node as one line to @line. */
static void capture(struct writer *writer, const xmlNode *node, bool is_link, struct text *line)
{
	struct writer inner = {
		.out = line,
		.urls = writer->urls,
		.is_flat = true,
		.is_link = writer->is_link || is_link,
		.has_frames = writer->has_frames,
	};

	write_children(&inner, node);
	if (inner.had_space)
		write_space(writer);
	writer->is_full |= inner.is_full;
	/* A space after the line is due, once the line is written. */
	line->has_failed |= writer->out->has_failed;
	text_free(&inner.prefix);
	if (inner.has_due_space && inner.has_begun)
		text_put(line, " ");
}

/* Write @line between @open and @close; a space at its end comes after. */
static void write_captured(
	struct writer *writer, const char *open, struct text *line, const char *close)
{
	bool has_space = line->size > 0 && line->data[line->size - 1] == ' ';

	if (has_space)
		line->data[--line->size] = '\0';
	if (line->size == 0)
		return;
	write_made(writer, open);
	text_add(writer->out, line->data, line->size);
	text_put(writer->out, close);
	if (has_space)
		write_space(writer);
}

/* Append @link with escapes in place of bytes that no URL has, or that end a link of Markdown. */
static void escape_url(const char *link, struct text *out)
{
	size_t size = strlen(link);

	while (size > 0 && strchr(" \t\r\n", link[size - 1]))
		size--;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)link[i] <= ' ' || strchr("()<>\\\"^`{|}\x7F", link[i]))
			text_printf(out, "%%%02X", (unsigned char)link[i]);
		else
			text_add(out, link + i, 1);
}

/* Return whether there is time for one more address. */
static bool has_time(struct writer *writer)
{
	const struct html_page *page = writer->urls->page;

	if (++writer->urls->n % URLS_A_LOOK == 0)
		writer->is_full |= page->is_late(page->data);
	return !writer->is_full;
}

/* Append the absolute address that @link means. Return false when a reader could not follow it, or
 * without time. */
static bool add_url(struct writer *writer, const char *link, struct text *out)
{
	static const char *const schemes[] = {"http://", "https://", "mailto:", "tel:"};
	struct text escaped = {0};
	xmlChar *absolute;
	bool is_good = false;

	link += strspn(link, " \t\r\n");
	if (*link == '#' || *link == '\0' || strlen(link) > URL_SIZE_MAX || !has_time(writer))
		return false;
	escape_url(link, &escaped);
	absolute = xmlBuildURI(
		(const xmlChar *)text_string(&escaped), (const xmlChar *)writer->urls->base);
	text_free(&escaped);
	for (size_t i = 0; absolute && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		is_good |= strncasecmp((const char *)absolute, schemes[i], strlen(schemes[i])) == 0;
	if (is_good)
		escape_url((const char *)absolute, out);
	xmlFree(absolute);
	return is_good;
}

/* Return whether there may be text below @node. */
static bool has_words(const xmlNode *node)
{
	for (const xmlNode *child = node->children; child; child = child->next) {
		const char *words = (const char *)child->content;

		if (child->type != XML_ELEMENT_NODE) {
			if (words && words[strspn(words, " \t\r\n")])
				return true;
		} else if (html_tree_kind(child) == HTML_IMAGE || has_words(child)) {
			return true;
		}
	}
	return false;
}

static void write_link(struct writer *writer, const xmlNode *node)
{
	const char *link = html_tree_attribute(node, "href");
	struct text close = {0};
	struct text line = {0};

	text_put(&close, "](");
	if (writer->is_link || !link || !has_words(node) || !add_url(writer, link, &close)) {
		text_free(&close);
		write_children(writer, node);
		return;
	}
	text_put(&close, ")");
	capture(writer, node, true, &line);
	write_captured(writer, "[", &line, text_string(&close));
	text_free(&close);
	text_free(&line);
}

static void write_image(struct writer *writer, const xmlNode *node)
{
	const char *alt = html_tree_attribute(node, "alt");
	const char *source = html_tree_attribute(node, "src");
	struct text close = {0};
	bool is_picture;

	if (!alt || strspn(alt, " \t\r\n") == strlen(alt))
		return;
	text_put(&close, "](");
	is_picture = !writer->is_link && source && add_url(writer, source, &close);
	text_put(&close, ")");
	if (is_picture)
		write_made(writer, "![");
	write_text(writer, alt);
	if (is_picture)
		write_made(writer, text_string(&close));
	text_free(&close);
}

static void write_code(struct writer *writer, const xmlNode *node)
{
	struct text line = {0};
	const char *ticks;

	capture(writer, node, true, &line);
	ticks = longest_ticks(text_string(&line)) > 0 ? "``" : "`";
	write_captured(writer, ticks, &line, ticks);
	text_free(&line);
}

/* ── tables ──────────────────────────────────────────────────────────────────────────────────── */

/* Return whether one of @names is below @node. */
static bool has_below(const xmlNode *node, const char *name)
{
	for (const xmlNode *child = node->children; child; child = child->next)
		if (html_tree_is(child, name) || has_below(child, name))
			return true;
	return false;
}

static size_t count_cells(const xmlNode *row)
{
	size_t n = 0;

	for (const xmlNode *cell = row->children; cell; cell = cell->next)
		n += html_tree_kind(cell) == HTML_CELL;
	return n;
}

/* Return the number of cells of the widest row below @node. */
static size_t count_columns(const xmlNode *node)
{
	size_t widest = 0;

	for (const xmlNode *child = node->children; child; child = child->next) {
		size_t n = 0;

		if (html_tree_kind(child) == HTML_ROW)
			n = count_cells(child);
		else if (html_tree_kind(child) == HTML_BLOCK)
			n = count_columns(child);
		widest = n > widest ? n : widest;
	}
	return widest;
}

static void write_cell(struct writer *writer, const xmlNode *cell)
{
	struct text line = {0};

	if (cell)
		capture(writer, cell, false, &line);
	while (line.size > 0 && line.data[line.size - 1] == ' ')
		line.size--;
	text_put(writer->out, " ");
	for (size_t i = 0; i < line.size; i++) {
		text_put(writer->out, line.data[i] == '|' ? "\\" : "");
		text_add(writer->out, line.data + i, 1);
	}
	text_put(writer->out, line.size > 0 ? " |" : "|");
	text_free(&line);
}

/* Write @row with @n_columns; @is_first: with the line below the heads. */
static void write_row(struct writer *writer, const xmlNode *row, size_t n_columns, bool is_first)
{
	const xmlNode *cell = row->children;

	end_lines(writer, 1);
	write_made(writer, "|");
	for (size_t i = 0; i < n_columns && !writer->is_full; i++) {
		while (cell && (html_tree_kind(cell) != HTML_CELL ||
				       html_tree_leaves_out(cell, writer->has_frames)))
			cell = cell->next;
		write_cell(writer, cell);
		cell = cell ? cell->next : NULL;
	}
	/* A space that is due belongs to a cell. */
	writer->has_due_space = false;
	end_lines(writer, 1);
	if (!is_first)
		return;
	write_made(writer, "|");
	for (size_t i = 0; i < n_columns; i++)
		text_put(writer->out, " --- |");
	end_lines(writer, 1);
}

/* Write the rows below @node; *n counts them. */
static void write_rows(struct writer *writer, const xmlNode *node, size_t n_columns, size_t *n)
{
	for (const xmlNode *child = node->children; child && !writer->is_full;
		child = child->next) {
		if (html_tree_leaves_out(child, writer->has_frames))
			continue;
		if (html_tree_kind(child) == HTML_ROW)
			write_row(writer, child, n_columns, (*n)++ == 0);
		else if (html_tree_is(child, "caption"))
			write_block(writer, child, 2);
		else if (html_tree_kind(child) == HTML_BLOCK)
			write_rows(writer, child, n_columns, n);
	}
}

/* A table around other tables, or with one column, only places its contents. */
static void write_table(struct writer *writer, const xmlNode *node)
{
	size_t n_columns = count_columns(node);
	size_t n = 0;

	end_lines(writer, 2);
	if (writer->is_flat || n_columns < 2 || n_columns > COLUMNS_MAX || has_below(node, "table"))
		write_children(writer, node);
	else
		write_rows(writer, node, n_columns, &n);
	end_lines(writer, 2);
}

/* ── nodes ───────────────────────────────────────────────────────────────────────────────────── */

static void write_break(struct writer *writer)
{
	if (writer->is_flat)
		write_space(writer);
	else if (writer->due_lines < 2)
		writer->due_lines++;
	writer->has_due_space &= writer->is_flat;
}

static void write_rule(struct writer *writer)
{
	end_lines(writer, 2);
	if (!writer->is_flat)
		write_made(writer, "---");
	end_lines(writer, 2);
}

static void write_quote(struct writer *writer, const xmlNode *node)
{
	end_lines(writer, 2);
	write_below(writer, node, "> ");
	end_lines(writer, 2);
}

static void write_element(struct writer *writer, const xmlNode *node)
{
	switch (html_tree_kind(node)) {
	case HTML_BLOCK:
	case HTML_FRAME:
	case HTML_HEADER:
	case HTML_ROW:
	case HTML_CELL:
		write_block(writer, node, 1);
		break;
	case HTML_PARAGRAPH:
		write_block(writer, node, 2);
		break;
	case HTML_HEADING:
		write_heading(writer, node);
		break;
	case HTML_LIST:
		write_list(writer, node);
		break;
	case HTML_ITEM:
		write_item(writer, node, "- ");
		break;
	case HTML_DETAIL:
		write_item(writer, node, "  ");
		break;
	case HTML_PRE:
		if (writer->is_flat)
			write_block(writer, node, 1);
		else
			write_pre(writer, node);
		break;
	case HTML_CODE:
		if (writer->is_link)
			write_children(writer, node);
		else
			write_code(writer, node);
		break;
	case HTML_LINK:
		write_link(writer, node);
		break;
	case HTML_IMAGE:
		write_image(writer, node);
		break;
	case HTML_BREAK:
		write_break(writer);
		break;
	case HTML_RULE:
		write_rule(writer);
		break;
	case HTML_QUOTE:
		write_quote(writer, node);
		break;
	case HTML_TABLE:
		write_table(writer, node);
		break;
	case HTML_SKIPPED:
		break;
	case HTML_INLINE:
		write_children(writer, node);
		break;
	}
}

/* HTML_DEPTH_MAX bounds the recursion. */
static void write_node(struct writer *writer, const xmlNode *node)
{
	if (html_tree_leaves_out(node, writer->has_frames))
		return;
	if (node->type == XML_ELEMENT_NODE)
		write_element(writer, node);
	else if (node->content)
		write_text(writer, (const char *)node->content);
}

/* ── the page ────────────────────────────────────────────────────────────────────────────────── */

/* Append the title of the page as its heading. */
static void write_title(const xmlDoc *document, struct urls *urls, struct text *out)
{
	const xmlNode *title = html_tree_find(document, "title");
	struct text line = {0};
	struct writer writer = {.out = &line, .urls = urls, .is_flat = true, .lead = "# "};

	if (title)
		write_children(&writer, title);
	if (line.size > 0) {
		text_add(out, text_string(&line), line.size);
		text_put(out, "\n\n");
	}
	text_free(&line);
}

/* Return the address that relative links of @document begin at, without `..`; NULL: the page's. The
 * caller frees it. */
static xmlChar *find_base(const struct html_page *page, const xmlDoc *document)
{
	const xmlNode *base = html_tree_find(document, "base");
	const char *href = base ? html_tree_attribute(base, "href") : NULL;
	xmlChar *absolute = href && strlen(href) <= URL_SIZE_MAX
				    ? xmlBuildURI((const xmlChar *)href, (const xmlChar *)page->url)
				    : NULL;
	xmlURI *uri = absolute ? xmlParseURI((const char *)absolute) : NULL;

	xmlFree(absolute);
	absolute = NULL;
	if (uri && (!uri->path || xmlNormalizeURIPath(uri->path) == 0))
		absolute = xmlSaveUri(uri);
	xmlFreeURI(uri);
	return absolute;
}

/* Write the part @node of the page. Return whether there is any text in it. */
static bool write_part(struct urls *urls, const xmlDoc *document, const xmlNode *node,
	bool has_frames, struct text *out, bool *is_cut)
{
	struct text part = {0};
	struct writer writer = {.out = &part, .urls = urls, .has_frames = has_frames};
	bool is_good;

	write_children(&writer, node);
	is_good = part.size > 0;
	if (is_good && !writer.has_title)
		write_title(document, urls, out);
	text_add(out, text_string(&part), part.size);
	out->has_failed |= part.has_failed || writer.prefix.has_failed;
	*is_cut |= writer.is_full;
	text_free(&writer.prefix);
	text_free(&part);
	return is_good;
}

bool html_text_write(const struct html_page *page, struct text *out, bool *ret_is_cut)
{
	xmlDoc *document = html_tree_parse(page, ret_is_cut);
	const xmlNode *part = document ? html_tree_main(document) : NULL;
	const xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
	xmlChar *base = document ? find_base(page, document) : NULL;
	struct urls urls = {.page = page, .base = base ? (const char *)base : page->url};
	bool is_good = false;

	if (part)
		is_good = write_part(&urls, document, part, false, out, ret_is_cut) ||
			  write_part(&urls, document, root, true, out, ret_is_cut);
	xmlFree(base);
	xmlFreeDoc(document);
	return is_good;
}
