/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/seal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Linux 6.3; a kernel that forbids executable memfds by default requires it. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

static const int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/* Make an empty memfd; its name appears in /proc/PID/maps. Older kernels refuse unknown flags, and
 * all kernels refuse longer names. */
static int make_memfd(const char *path)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	const char *slash = strrchr(path, '/');
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%s", slash + 1);
	fd = memfd_create(name, flags | MFD_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd;
}

static bool copy(int from, int to, size_t size)
{
	while (size > 0) {
		ssize_t n = sendfile(to, from, NULL, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Return whether the library finds dependencies by its own place. The text is in the string table
 * of its dynamic section; if it is found elsewhere, only the seal is lost. */
static bool depends_on_place(int fd, size_t size)
{
	char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	bool depends;

	if (bytes == MAP_FAILED)
		return true;
	depends = memmem(bytes, size, "$ORIGIN", strlen("$ORIGIN")) ||
		  memmem(bytes, size, "${ORIGIN}", strlen("${ORIGIN}"));
	munmap(bytes, size);
	return depends;
}

/* Return a sealed copy of the file, or -1. */
static int seal_file(const char *path)
{
	cleanup_close int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_close int memory = -1;
	struct stat status;
	size_t size;

	if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	if (status.st_size <= 0 || status.st_size > SEAL_BYTES_MAX)
		return -1;
	size = (size_t)status.st_size;
	memory = make_memfd(path);
	if (memory < 0 || !copy(file, memory, size) || fcntl(memory, F_ADD_SEALS, all_seals) < 0)
		return -1;
	if (depends_on_place(memory, size))
		return -1;
	return take_fd(memory);
}

int seal_make(const char *name, struct seal *ret_seal)
{
	char *copy_of_name = strdup(name);

	if (!copy_of_name)
		return -ENOMEM;
	*ret_seal =
		(struct seal){.name = copy_of_name, .fd = strchr(name, '/') ? seal_file(name) : -1};
	return 0;
}

void *seal_load(struct seal *seal, bool *ret_is_sealed)
{
	char link[sizeof("/proc/self/fd/2147483647")];
	void *library = NULL;

	if (seal->fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", seal->fd);
		library = dlopen(link, RTLD_NOW | RTLD_LOCAL);
		close(take_fd(seal->fd));
	}
	*ret_is_sealed = library != NULL;
	return library ? library : dlopen(seal->name, RTLD_NOW | RTLD_LOCAL);
}

void seal_deinit(struct seal *seal)
{
	free(seal->name);
	if (seal->fd >= 0)
		close(seal->fd);
	*seal = (struct seal){.fd = -1};
}
