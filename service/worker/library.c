/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
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

static int refuse_library(const struct driver_load *load, struct diagnostics *problems,
	uint32_t token, const char *reason)
{
	return driver_refuse(problems, load->tape, token, "cannot load the library: %s (%s)",
		reason, help_against(reason, load->seal->name));
}

/* Return whether the library is found by path and is anything but a file. The dynamic linker would
 * open it: a FIFO waits for a writer, a device may do anything. */
static bool is_no_file(const char *name)
{
	struct stat status;

	return strchr(name, '/') && stat(name, &status) == 0 && !S_ISREG(status.st_mode);
}

int library_open(
	const struct driver_load *load, struct library *ret_library, struct diagnostics *problems)
{
	uint32_t token = json_find(load->tape, 0, "library");
	struct float_mode mode = float_mode_get();
	struct library library = {0};
	struct link_map *map;

	if (!load->seal->name)
		return driver_refuse(
			problems, load->tape, token, "'library' must be a path or a name");
	if (is_no_file(load->seal->name))
		return driver_refuse(problems, load->tape, token,
			"cannot load the library: %s is not a regular file", load->seal->name);
	library.handle = seal_load(load->seal, &library.is_sealed);
	/* A constructor of a library made for speed turns tiny numbers off. */
	float_mode_restore(mode);
	if (!library.handle)
		return refuse_library(load, problems, token, dlerror());
	if (dlinfo(library.handle, RTLD_DI_LINKMAP, &map) < 0)
		return driver_refuse(problems, load->tape, token,
			"cannot find the library's file: %s", dlerror());
	library.file = library.is_sealed ? load->seal->name : map->l_name;
	*ret_library = library;
	return 0;
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
	buffer_printf(out, ",\"sealed\":%s,\"library\":", library->is_sealed ? "true" : "false");
	json_write_bytes_lossy(out, library->file, strlen(library->file));
}
