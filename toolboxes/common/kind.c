/* SPDX-License-Identifier: Apache-2.0 */
#include "kind.h"

#include <string.h>

const char *binary_kind(const char *bytes, size_t size)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *kind;
	} marks[] = {
		{"\x89PNG", 4, "a PNG image"},
		{"\xFF\xD8\xFF", 3, "a JPEG image"},
		{"GIF8", 4, "a GIF image"},
		{"%PDF-", 5, "a PDF document"},
		{"PK\x03\x04", 4, "a ZIP archive"},
		{"\x7F"
		 "ELF",
			4, "a program"},
		{"\x1F\x8B", 2, "compressed by gzip"},
		{"SQLite format 3", 15, "a database"},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (size >= marks[i].size && memcmp(bytes, marks[i].bytes, marks[i].size) == 0)
			return marks[i].kind;
	return size > 0 && memchr(bytes, '\0', size) ? "a binary file" : NULL;
}
