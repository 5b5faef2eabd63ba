/* SPDX-License-Identifier: Apache-2.0 */
#include "mailbox.h"

#include <string.h>

#define LOCAL_SIZE_MAX  64
#define DOMAIN_SIZE_MAX 253

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Return whether @text, of @size, has no empty part between dots. */
static bool has_whole_parts(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '.' && (i == 0 || i + 1 == size || text[i + 1] == '.'))
			return false;
	return size > 0;
}

/* Return whether no label of @domain begins or ends with a hyphen. */
static bool has_good_labels(const char *domain)
{
	size_t size = strlen(domain);

	for (size_t i = 0; i < size; i++)
		if (domain[i] == '-' &&
			(i == 0 || domain[i - 1] == '.' || i + 1 == size || domain[i + 1] == '.'))
			return false;
	return true;
}

bool mailbox_is_good(const char *address)
{
	size_t local = strspn(address, LETTERS "!#$%&'*+/=?^_`{|}~.-");
	const char *domain = address + local + 1;
	size_t size;

	if (address[local] != '@' || local > LOCAL_SIZE_MAX || !has_whole_parts(address, local))
		return false;
	size = strspn(domain, LETTERS ".-");
	return domain[size] == '\0' && size <= DOMAIN_SIZE_MAX && has_whole_parts(domain, size) &&
	       has_good_labels(domain);
}
