/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Memory that runs out once, to be preloaded into a daemon: LD_PRELOAD this, and name in
 * SHORT_MEMORY a file with a struct short_memory. The allocations of the program itself and of
 * cJSON are counted; when `left` comes to 0, one fails.
 *
 * With the id of a toolbox in SHORT_MEMORY_HOST the daemon has all memory, and its hosts of this
 * toolbox are preloaded instead. The daemon chooses their environment, so it is extended here.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
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
	atomic_int_fast64_t live;   /* counted blocks of the last process that are not freed */
	atomic_int_fast64_t last;   /* its pid */
};

struct range {
	uintptr_t begin;
	uintptr_t end;
};

#define RANGES_MAX 16
#define BLOCKS_MAX 65536 /* a power of two */

static struct range ranges[RANGES_MAX];
static size_t n_ranges;
static struct short_memory *memory;
static _Atomic(void *)
	blocks[BLOCKS_MAX]; /* live ones, by their hash; once used, a place is kept */

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
	bool is_program = true;
	void *map;
	int fd;

	if (getenv("SHORT_MEMORY_HOST"))
		return;
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	map = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || map == MAP_FAILED)
		abort();
	close(fd);
	/* Programs that this one starts have all memory. */
	unsetenv("LD_PRELOAD");
	dl_iterate_phdr(take_ranges, &is_program);
	memory = map;
	atomic_store(&memory->last, getpid());
	atomic_store(&memory->live, 0);
}

static bool is_ours(const void *caller)
{
	for (size_t i = 0; memory && i < n_ranges; i++)
		if ((uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end)
			return true;
	return false;
}

/* Note a block of the code at @caller, and return it. */
static void *note(void *block, const void *caller)
{
	size_t at = (uintptr_t)block >> 4;
	void *none = NULL;

	if (!block || !is_ours(caller))
		return block;
	while (!atomic_compare_exchange_strong(&blocks[at++ % BLOCKS_MAX], &none, block))
		none = NULL;
	if (atomic_load(&memory->last) == getpid())
		atomic_fetch_add(&memory->live, 1);
	return block;
}

/* Forget a block. It is among the places after its hash, up to a few that are in use. */
static void forget(void *block)
{
	size_t at = (uintptr_t)block >> 4;

	for (size_t i = 0; memory && block && i < 64; i++, at++) {
		void *found = block;

		if (!atomic_compare_exchange_strong(&blocks[at % BLOCKS_MAX], &found, NULL))
			continue;
		if (atomic_load(&memory->last) == getpid())
			atomic_fetch_sub(&memory->live, 1);
		return;
	}
}

/* Return whether the allocation by the code at @caller fails. */
static bool fails(const void *caller)
{
	if (!is_ours(caller))
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
	return fails(CALLER) ? NULL : note(real(size), CALLER);
}

void *calloc(size_t n, size_t size)
{
	static void *(*real)(size_t, size_t);

	real = real ? real : (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	return fails(CALLER) ? NULL : note(real(n, size), CALLER);
}

void *realloc(void *block, size_t size)
{
	static void *(*real)(void *, size_t);

	real = real ? real : (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	if (fails(CALLER))
		return NULL;
	forget(block);
	return note(real(block, size), CALLER);
}

void *reallocarray(void *block, size_t n, size_t size)
{
	static void *(*real)(void *, size_t, size_t);

	real = real ? real : (void *(*)(void *, size_t, size_t))dlsym(RTLD_NEXT, "reallocarray");
	if (fails(CALLER))
		return NULL;
	forget(block);
	return note(real(block, n, size), CALLER);
}

void free(void *block)
{
	static void (*real)(void *);
	static bool is_looking;

	/* dlsym() frees, too. */
	if (!real && is_looking)
		return;
	is_looking = true;
	real = real ? real : (void (*)(void *))dlsym(RTLD_NEXT, "free");
	forget(block);
	real(block);
}

char *strdup(const char *text)
{
	static char *(*real)(const char *);

	real = real ? real : (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
	return fails(CALLER) ? NULL : note(real(text), CALLER);
}

char *strndup(const char *text, size_t size)
{
	static char *(*real)(const char *, size_t);

	real = real ? real : (char *(*)(const char *, size_t))dlsym(RTLD_NEXT, "strndup");
	return fails(CALLER) ? NULL : note(real(text, size), CALLER);
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

/* ── hosts ───────────────────────────────────────────────────────────────────────────────────── */

#define ENVIRONMENT_MAX 32

/* Return the entry NAME=value of the environment. */
static char *entry_of(const char *name)
{
	char *value = getenv(name);

	return value ? value - strlen(name) - 1 : NULL;
}

int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	static int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
		const posix_spawnattr_t *, char *const[], char *const[]);
	const char *host = getenv("SHORT_MEMORY_HOST");
	char *extended[ENVIRONMENT_MAX];
	size_t n = 0;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "posix_spawn");
	if (host && arguments[1] && strcmp(arguments[1], host) == 0) {
		while (environment[n] && n < ENVIRONMENT_MAX - 3) {
			extended[n] = environment[n];
			n++;
		}
		extended[n++] = entry_of("LD_PRELOAD");
		extended[n++] = entry_of("SHORT_MEMORY");
		extended[n] = NULL;
		environment = extended;
	}
	return real(ret_pid, path, actions, attributes, arguments, environment);
}
