/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/writer.h"
#include "worker/float_mode.h"

/* Return advice for @reason, the error of the dynamic linker. */
static const char *help_against(const char *reason, const char *library)
{
	if (strstr(reason, strerrordesc_np(EACCES)))
		return "name its folder in the toolbox's sandbox.read";
	if (!strchr(library, '/'))
		return "build it beside its manifest, or give its path, or a name that the dynamic "
		       "linker finds: ldconfig -p";
	if (strncmp(reason, library, strlen(library)) != 0)
		return "the library needs it: ldd(1) shows what is not found";
	if (strstr(reason, "undefined symbol"))
		return "link it with the library that has the symbol; nm -D -u shows all that it "
		       "needs";
	if (access(library, F_OK) < 0)
		return "a relative path starts at the manifest's folder";
	return "is it a shared library for this machine? Ask file(1)";
}

static int refuse_library(const struct driver_load *load, const char *name,
	struct diagnostics *problems, uint32_t token, const char *reason)
{
	return driver_refuse(problems, load->tape, token, "cannot load the library: %s (%s)",
		reason, help_against(reason, name));
}

/* Return the place in the LOAD frame of the library number @index. */
static uint32_t find_library_place(const struct json_tape *tape, size_t index)
{
	uint32_t list = json_find(tape, 0, "libraries");
	uint32_t at;

	if (list == JSON_NONE)
		return json_find(tape, 0, "library");
	at = json_first(tape, list);
	while (index-- > 0)
		at = json_next(tape, at);
	return at;
}

/* Return whether the library is found by path and is anything but a file. The dynamic linker would
 * open it: a FIFO waits for a writer, a device may do anything. */
static bool is_no_file(const char *name)
{
	struct stat status;

	return strchr(name, '/') && stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

int library_open(const struct driver_load *load, size_t index, struct library *ret_library,
	struct diagnostics *problems)
{
	uint32_t token = find_library_place(load->tape, index);
	struct float_mode mode = float_mode_get();
	struct seal *seal = &load->seals[index];
	struct library library = {0};

	if (index >= load->n_seals)
		return driver_refuse(
			problems, load->tape, token, "'library' must be a path or a name");
	if (is_no_file(seal->name))
		return driver_refuse(problems, load->tape, token,
			"cannot load the library: %s is not a regular file", seal->name);
	library.handle = seal_load(seal, &library.is_sealed);
	/* A constructor of a library made for speed turns tiny numbers off. */
	float_mode_restore(mode);
	if (!library.handle)
		return refuse_library(load, seal->name, problems, token, dlerror());
	if (dlinfo(library.handle, RTLD_DI_LINKMAP, &library.map) < 0)
		return driver_refuse(problems, load->tape, token,
			"cannot find the library's file: %s", dlerror());
	library.file = library.is_sealed ? seal->name : library.map->l_name;
	*ret_library = library;
	return 0;
}

/* Return whether @address is in the library itself, not in a library that it is linked to. */
static bool has_address(const struct library *library, void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map == library->map;
}

/* Return the address of @symbol in libc, which every host has, or NULL. */
static void *find_in_libc(const char *symbol)
{
	void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	void *address = libc ? dlsym(libc, symbol) : NULL;

	if (libc)
		dlclose(libc);
	return address;
}

void *library_find(const struct library *libraries, size_t n, const char *symbol)
{
	void *linked = NULL;

	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(libraries[i].handle, symbol);

		if (address && has_address(&libraries[i], address))
			return address;
		linked = linked ? linked : address;
	}
	return linked ? linked : find_in_libc(symbol);
}

bool library_is_data(void *address, size_t *ret_size)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
		info.dli_saddr != address)
		return false;
	if (ret_size)
		*ret_size = symbol->st_size;
	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT ||
	       ELF64_ST_TYPE(symbol->st_info) == STT_TLS;
}

void library_describe(const struct library *library, struct buffer *out)
{
	buffer_printf(out, "\"sealed\":%s,\"library\":", library->is_sealed ? "true" : "false");
	json_write_bytes_lossy(out, library->file, strlen(library->file));
}
