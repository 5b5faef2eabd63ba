/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory that runs out once, to be preloaded into a daemon: LD_PRELOAD this, and name in
 * SHORT_MEMORY a file with a struct short_memory. The allocations of the program itself and of
 * cJSON are counted; when `left` comes to 0, one fails.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct short_memory {
	atomic_int_fast64_t left;   /* allocations up to the failing one; 0: none fails */
	atomic_int_fast64_t failed; /* how many have failed */
	atomic_int_fast64_t seen;   /* how many were counted */
};

struct range {
	uintptr_t begin;
	uintptr_t end;
};

#define RANGES_MAX 16

static struct range ranges[RANGES_MAX];
static size_t n_ranges;
static struct short_memory *memory;

static int take_ranges(struct dl_phdr_info *object, size_t size, void *data)
{
	bool is_program = *(const bool *)data;

	(void)size;
	*(bool *)data = false;
	if (!is_program && !strstr(object->dlpi_name, "libcjson"))
		return 0;
	for (int i = 0; i < object->dlpi_phnum && n_ranges < RANGES_MAX; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X))
			ranges[n_ranges++] = (struct range){begin, begin + part->p_memsz};
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SHORT_MEMORY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bool is_program = true;

	if (fd < 0 || map == MAP_FAILED)
		abort();
	close(fd);
	dl_iterate_phdr(take_ranges, &is_program);
	memory = map;
}

/* Return whether the allocation by the code at @caller fails. */
static bool fails(const void *caller)
{
	bool is_ours = false;

	if (!memory)
		return false;
	for (size_t i = 0; i < n_ranges; i++)
		is_ours = is_ours || ((uintptr_t)caller >= ranges[i].begin &&
					     (uintptr_t)caller < ranges[i].end);
	if (!is_ours)
		return false;
	atomic_fetch_add(&memory->seen, 1);
	if (atomic_load(&memory->left) <= 0 || atomic_fetch_sub(&memory->left, 1) != 1)
		return false;
	atomic_fetch_add(&memory->failed, 1);
	errno = ENOMEM;
	return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
	static void *(*real)(size_t);

	real = real ? real : (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	return fails(CALLER) ? NULL : real(size);
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);

	real = real ? real : (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	return fails(CALLER) ? NULL : real(n, size);
}

void *realloc(void *block, size_t size)
{
	static void *(*real)(void *, size_t);

	real = real ? real : (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	return fails(CALLER) ? NULL : real(block, size);
}

void *reallocarray(void *block, size_t n, size_t size)
{
	static void *(*real)(void *, size_t, size_t);

	real = real ? real : (void *(*)(void *, size_t, size_t))dlsym(RTLD_NEXT, "reallocarray");
	return fails(CALLER) ? NULL : real(block, n, size);
}

char *strdup(const char *text)
{
	static char *(*real)(const char *);

	real = real ? real : (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
	return fails(CALLER) ? NULL : real(text);
}

char *strndup(const char *text, size_t size)
{
	static char *(*real)(const char *, size_t);

	real = real ? real : (char *(*)(const char *, size_t))dlsym(RTLD_NEXT, "strndup");
	return fails(CALLER) ? NULL : real(text, size);
}

char *realpath(const char *path, char *resolved)
{
	static char *(*real)(const char *, char *);

	real = real ? real : (char *(*)(const char *, char *))dlsym(RTLD_NEXT, "realpath");
	return !resolved && fails(CALLER) ? NULL : real(path, resolved);
}

int vasprintf(char **ret_text, const char *format, va_list arguments)
{
	static int (*real)(char **, const char *, va_list);

	real = real ? real : (int (*)(char **, const char *, va_list))dlsym(RTLD_NEXT, "vasprintf");
	return fails(CALLER) ? -1 : real(ret_text, format, arguments);
}

int asprintf(char **ret_text, const char *format, ...)
{
	va_list arguments;
	int n;

	if (fails(CALLER))
		return -1;
	va_start(arguments, format);
	n = vasprintf(ret_text, format, arguments);
	va_end(arguments);
	return n;
}
