/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "worker/sandbox/syscalls.h"
#include "worker/sandbox/trace.h"

#define MIB (UINT64_C(1) << 20)

/* The first ABIs of landlock that restrict truncating, and abstract sockets. */
#define ABI_TRUNCATE 3
#define ABI_SCOPE    6

/* AddressSanitizer maps terabytes, and LeakSanitizer traces its own process. */
#ifdef TOOLBOXD_SANITIZED
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

/* Landlock is in force; for good. */
static bool is_confined;

bool sandbox_confines_files(void)
{
	return is_confined;
}

static void note_missing(struct buffer *missing, const char *text)
{
	if (missing->size > 0)
		buffer_append_string(missing, "; ");
	buffer_append_string(missing, text);
}

static int limit_memory(uint32_t memory_mb)
{
	const struct rlimit limit = {memory_mb * MIB, memory_mb * MIB};

	if (memory_mb == 0 || is_sanitized)
		return 0;
	return setrlimit(RLIMIT_AS, &limit) < 0 ? -errno : 0;
}

static bool has_files(const struct toolbox_sandbox *sandbox)
{
	return sandbox->class < SANDBOX_COMMAND ||
	       (sandbox->class == SANDBOX_COMMAND &&
		       (sandbox->read.is_given || sandbox->write.is_given));
}

/* Let the host be traced, if asked for. The filter comes before the class's, which refuses the
 * installation of others. */
static int begin_trace(int tracer, const struct landlock_rules *rules)
{
	int r = tracer < 0 ? 0 : trace_begin(tracer, rules);

	if (r == -EBUSY || r == -EINVAL || r == -ENOSYS) {
		trace_decline(tracer, "no seccomp listener can be had here");
		return 0;
	}
	return r;
}

static int restrict_files(int abi, const struct toolbox_sandbox *sandbox,
	const struct landlock_places *places, int tracer, struct buffer *missing,
	struct landlock_failure *failure)
{
	struct landlock_rules rules;
	int r;

	if (abi == 0) {
		note_missing(missing, "files are not restricted (no landlock)");
		if (tracer >= 0)
			trace_decline(tracer, "this kernel has no landlock, so no path is denied");
		return 0;
	}
	r = landlock_enter(abi, sandbox, places, &rules, failure);
	is_confined = r == 0;
	r = r ? r : begin_trace(tracer, &rules);
	if (r == 0 && abi < ABI_SCOPE && sandbox->class <= SANDBOX_NET && sandbox->has_unix)
		note_missing(missing,
			"abstract sockets can be reached with \"unix\" (landlock before 6)");
	if (r == 0 && abi < ABI_TRUNCATE && sandbox->class == SANDBOX_COMMAND &&
		sandbox->write.is_given)
		note_missing(missing, "files outside `write` can be truncated (landlock before 3)");
	return r == LANDLOCK_E_PATH ? SANDBOX_E_PATH : r;
}

static int restrict_calls(
	int abi, const struct toolbox_sandbox *sandbox, struct buffer *missing, int *ret_listener)
{
	int r;

	if (is_sanitized) {
		note_missing(missing, "system calls are not restricted (built with sanitizers)");
		return 0;
	}
	r = syscalls_restrict(sandbox, abi >= ABI_TRUNCATE || abi == 0, ret_listener);
	if (r == 0 && *ret_listener < 0)
		note_missing(missing, "refused calls are not named (no seccomp listener)");
	if (r != -ENOSYS && r != -EINVAL)
		return r;
	note_missing(missing, "system calls are not restricted (no seccomp)");
	return 0;
}

bool sandbox_wants_folder(const struct toolbox_sandbox *sandbox)
{
	return sandbox->class == SANDBOX_COMMAND && sandbox->write.is_given;
}

int sandbox_enter(const struct toolbox_sandbox *sandbox, const struct landlock_places *places,
	int tracer, struct buffer *ret_missing, int *ret_listener,
	struct landlock_failure *ret_failure)
{
	int abi;
	int r = limit_memory(sandbox->memory_mb);

	if (r == 0 && !has_files(sandbox) && tracer >= 0)
		trace_decline(tracer, "its sandbox restricts no files");
	if (r || sandbox->class == SANDBOX_NONE)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (!has_files(sandbox))
		return 0;
	abi = landlock_abi();
	r = restrict_files(abi, sandbox, places, tracer, ret_missing, ret_failure);
	if (r || sandbox->class == SANDBOX_COMMAND)
		return r;
	return restrict_calls(abi, sandbox, ret_missing, ret_listener);
}
