/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/text/text.h"

/* A binary file has a control character in as many bytes. */
#define TEXT_BYTES 512

/* The most entries examined in a dynamic section. */
#define DYNAMIC_MAX 256

static const char space[] = " \t";

/* Return whether the file is named like a shared library: lib.so, lib.so.1.2. */
static bool is_library_name(const char *path)
{
	const char *end = strstr(basename(path), ".so");

	if (!end)
		return false;
	end += strlen(".so");
	while (*end == '.' && text_is_digit(end[1]))
		end += 1 + strspn(end + 1, "0123456789");
	return *end == '\0';
}

/* Return whether the dynamic section, @size bytes at @offset of the file, belongs to a statically
 * linked program. */
static bool is_static_program(const char *path, uint64_t offset, uint64_t size)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ElfW(Dyn) entries[DYNAMIC_MAX];
	uint64_t n_there = size / sizeof(*entries);
	size_t n = n_there < DYNAMIC_MAX ? (size_t)n_there : DYNAMIC_MAX;
	ssize_t got = fd < 0 ? -1 : pread(fd, entries, n * sizeof(*entries), (off_t)offset);

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*entries); i++)
		if (entries[i].d_tag == DT_FLAGS_1)
			return (entries[i].d_un.d_val & DF_1_PIE) != 0;
	return false;
}

/* Return whether the file is a shared object of this machine, not a program: it names no
 * interpreter, and is not linked statically. */
static bool is_shared_object(const char *path, const struct buffer *head)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) part;

	if (head->size < sizeof(header) || memcmp(head->data, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&header, head->data, sizeof(header));
	if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
		header.e_type != ET_DYN || header.e_phentsize != sizeof(part))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (header.e_phoff > head->size ||
			(i + 1) * sizeof(part) > head->size - header.e_phoff)
			return false;
		memcpy(&part, head->data + header.e_phoff + i * sizeof(part), sizeof(part));
		if (part.p_type == PT_INTERP)
			return false;
		if (part.p_type == PT_DYNAMIC &&
			is_static_program(path, part.p_offset, part.p_filesz))
			return false;
	}
	return true;
}

/* Return whether @head has no control characters typical of binary files. */
static bool is_plain_text(const struct buffer *head)
{
	size_t size = head->size < TEXT_BYTES ? head->size : TEXT_BYTES;

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)head->data[i] < '\t' || head->data[i] == '\x7f')
			return false;
	return true;
}

/* Check the line of @size bytes after the `#!`. */
static void check_interpreter(const char *line, size_t size, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	const char *end = line + size;

	if (size > 0 && end[-1] == '\r') {
		buffer_append_string(reason,
			"its lines end with CR LF, so that its interpreter is not found: save it "
			"with LF");
		return;
	}
	while (line < end && strchr(space, *line))
		line++;
	size = 0;
	while (line + size < end && !strchr(space, line[size]))
		size++;
	buffer_append(&path, line, size);
	/* Another path than an absolute one depends on where the program is run. */
	if (size > 0 && *line == '/' && buffer_terminate(&path) && access(path.data, X_OK) < 0)
		buffer_printf(
			reason, "its interpreter %s cannot be run: %s", path.data, strerror(errno));
}

void dropin_program_check(const char *path, const struct buffer *head, struct buffer *reason)
{
	static const char mark[] = "\xEF\xBB\xBF";
	const char *newline;

	if (is_library_name(path) || is_shared_object(path, head)) {
		buffer_append_string(reason,
			"it is a shared library; a manifest of kind native makes its functions "
			"tools");
		return;
	}
	if (head->size > strlen(mark) && memcmp(head->data, mark, strlen(mark)) == 0) {
		buffer_append_string(reason,
			"it begins with a byte order mark, so that its interpreter is not found: "
			"save it as UTF-8 without one");
		return;
	}
	if (head->size < strlen("#!"))
		return;
	if (memcmp(head->data, "#!", strlen("#!")) != 0) {
		if (is_plain_text(head))
			buffer_append_string(reason,
				"it is a text that does not begin with a line like #!/bin/sh");
		return;
	}
	newline = memchr(head->data, '\n', head->size);
	check_interpreter(head->data + strlen("#!"),
		newline ? (size_t)(newline - head->data) - strlen("#!") : head->size - strlen("#!"),
		reason);
}
