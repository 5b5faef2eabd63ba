/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/tools.h"

#include <string.h>

#include "ctl/table.h"
#include "ctl/terminal.h"
#include "util/array.h"
#include "util/text/utf8.h"

/* The tools of a new toolbox, as `toolboxctl new` prints them. */

/* The most code points of a description in the table. */
#define DESCRIPTION_POINTS 200

/* Return the bytes of the first line of @text, at most as many as a table has room for. */
static size_t first_line(const char *text)
{
	return utf8_prefix(text, strcspn(text, "\n"), DESCRIPTION_POINTS);
}

void new_print_tools(const struct toolbox *toolbox)
{
	static const struct table_column columns[] = {{"TOOL", 0}, {"RISK", 0}, {"DESCRIPTION", 0}};
	struct table table;

	table_init(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];

		table_add(&table, tool->name);
		table_add(&table, tool_risk_names[tool->risk]);
		terminal_append_words(
			table_cell(&table), tool->description, first_line(tool->description));
		table_next(&table);
	}
	table_print(&table);
	table_deinit(&table);
}
