/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/header.h"

#include <errno.h>
#include <string.h>

#define SYSTEM_FOLDER "/usr/include/"

int header_read_text(struct header *header)
{
	int r = c_tokens_read(header->text.data, header->text.size, &header->tokens);

	return r ? r : c_declarations_read(&header->tokens, &header->declarations);
}

int header_read(const struct compiler *compiler, bool has_comments, struct header *ret_header,
	struct buffer *messages)
{
	struct header header = {0};
	int r = compiler_run(compiler, has_comments ? "-E -C" : "-E", NULL, &header.text, messages);

	if (r == 0 && !buffer_terminate(&header.text))
		r = -ENOMEM;
	r = r ? r : header_read_text(&header);
	if (r == C_TOKENS_E_SIZE) {
		buffer_printf(messages, "the header has more than %u MiB when it is expanded\n",
			C_TEXT_BYTES_MAX >> 20);
		r = COMPILER_E_FAILED;
	}
	if (r == 0)
		*ret_header = header;
	else
		header_deinit(&header);
	return r;
}

void header_deinit(struct header *header)
{
	c_declarations_deinit(&header->declarations);
	c_tokens_deinit(&header->tokens);
	buffer_deinit(&header->text);
	*header = (struct header){0};
}

const char *header_short_name(const char *file)
{
	const char *folder;

	if (strncmp(file, SYSTEM_FOLDER, strlen(SYSTEM_FOLDER)) != 0)
		return file;
	file += strlen(SYSTEM_FOLDER);
	/* A folder of an architecture. */
	folder = strstr(file, "-linux-gnu");
	if (folder && strchr(file, '/') > folder)
		file = strchr(file, '/') + 1;
	return file;
}
