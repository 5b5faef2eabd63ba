/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

/* Refusals at load, and their places: pointers go into the LOAD frame. */

#define LIMIT   300
#define LIBRARY TEST_TOOLBOX_DIR "/libtest_behave.so"

static void expect_refused(const char *load, const char *pointer, const char *words)
{
	struct guest guest = {0};

	guest_start_load(&guest, load, NULL);
	cr_assert_eq(guest.n_ends, 1, "%s", load);
	cr_assert_eq(guest.end.reason, HOST_REFUSED, "%s: reason %d", load, guest.end.reason);
	cr_expect_str_eq(guest.pointer.data, pointer, "%s: at %s", load, guest.pointer.data);
	cr_expect(strstr(guest.message.data, words), "%s: %s", load, guest.message.data);
	guest_stop(&guest);
}

static void expect_loaded(const char *load, const char *words)
{
	struct guest guest = {0};

	guest_start_load(&guest, load, NULL);
	cr_assert_eq(
		guest.n_loaded, 1, "%s: %s", load, guest.message.data ? guest.message.data : "");
	cr_expect(strstr(guest.loaded.data, words), "%s", guest.loaded.data);
	guest_stop(&guest);
}

Test(native_driver, tells_the_file_that_the_linker_chose, .timeout = LIMIT)
{
	expect_loaded(
		"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[{\"symbol\":\"sqrt\"}]}",
		"/libm.so.6\"}]");
	expect_loaded(
		"{\"kind\":\"native\",\"library\":\"" LIBRARY "\",\"tools\":[]}", LIBRARY "\"}]");
}

/* The dynamic linker would wait for a writer. */
Test(native_driver, refuses_a_library_that_is_no_file_at_once, .timeout = LIMIT)
{
	char path[] = "/tmp/unit-native-XXXXXX";
	char load[128];
	char fifo[64];
	char words[128];

	cr_assert(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/x.so", path);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	snprintf(load, sizeof(load), "{\"kind\":\"native\",\"library\":\"%s\",\"tools\":[]}", fifo);
	snprintf(words, sizeof(words), "cannot load the library: %s is not a regular file", fifo);
	expect_refused(load, "/library", words);
	unlink(fifo);
	snprintf(load, sizeof(load), "{\"kind\":\"native\",\"library\":\"%s\",\"tools\":[]}", path);
	snprintf(words, sizeof(words), "cannot load the library: %s is not a regular file", path);
	expect_refused(load, "/library", words);
	rmdir(path);
	expect_refused("{\"kind\":\"native\",\"library\":\"/dev/zero\",\"tools\":[]}", "/library",
		"/dev/zero is not a regular file");
}

Test(native_driver, refuses_a_library_that_is_not_there, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"native\",\"library\":\"libnowhere.so.7\",\"tools\":[]}",
		"/library",
		"cannot load the library: libnowhere.so.7: cannot open shared object file: No such "
		"file or directory (build it beside its manifest, or give its path, or a name "
		"that the dynamic linker finds: ldconfig -p)");
	expect_refused("{\"kind\":\"native\",\"library\":\"/nowhere/x.so\",\"tools\":[]}",
		"/library",
		"/nowhere/x.so: cannot open shared object file: No such file or directory (a "
		"relative path starts at the manifest's folder)");
	expect_refused("{\"kind\":\"native\",\"library\":7,\"tools\":[]}", "/library",
		"must be a path or a name");
	expect_refused("{\"kind\":\"native\",\"library\":\"/etc/passwd\",\"tools\":[]}", "/library",
		"/etc/passwd: invalid ELF header (is it a shared library for this machine? Ask "
		"file(1))");
}

#define BOTH "\"libraries\":[\"libm.so.6\",\"" LIBRARY "\"]"

Test(native_driver, finds_symbols_in_several_libraries_and_in_libc, .timeout = LIMIT)
{
	expect_loaded("{\"kind\":\"native\"," BOTH
		      ",\"tools\":[{\"symbol\":\"cbrt\"},{\"symbol\":\"same_i8\"},"
		      "{\"symbol\":\"getpid\"}]}",
		LIBRARY "\"}]");
}

Test(native_driver, names_the_library_of_several_that_cannot_be_loaded, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"native\",\"libraries\":[\"libm.so.6\",\"libnowhere.so.7\"],"
		       "\"tools\":[]}",
		"/libraries/1", "cannot load the library: libnowhere.so.7: ");
	expect_refused("{\"kind\":\"native\"," BOTH ",\"tools\":[{\"symbol\":\"same_i7\"}]}",
		"/tools/0/symbol", "the libraries have no function 'same_i7': nm -D ");
	expect_refused("{\"kind\":\"native\"," BOTH ",\"tools\":[{\"symbol\":\"same_i7\"}]}",
		"/tools/0/symbol", LIBRARY " shows what they have");
}

Test(native_driver, refuses_a_symbol_that_is_not_there, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"native\",\"library\":\"" LIBRARY
		       "\",\"tools\":[{\"symbol\":\"same_i8\"},"
		       "{\"symbol\":\"same_i7\"}]}",
		"/tools/1/symbol",
		"the library has no function 'same_i7': nm -D --defined-only " LIBRARY
		" shows what it has");
	expect_refused(
		"{\"kind\":\"native\",\"library\":\"" LIBRARY
		"\",\"tools\":[{\"symbol\":\"lend_upper\","
		"\"returns\":{\"type\":\"str\",\"transfer\":\"full\",\"free\":\"nobody\"}}]}",
		"/tools/0/returns/free", "the library has no function 'nobody'");
}

Test(native_driver, refuses_to_call_a_variable, .timeout = LIMIT)
{
	expect_refused("{\"kind\":\"native\",\"library\":\"" LIBRARY
		       "\",\"tools\":[{\"symbol\":\"not_a_function\"}]}",
		"/tools/0/symbol", "'not_a_function' is a variable, not a function");
}

Test(native_driver, refuses_what_no_reading_of_a_manifest_would_send, .timeout = LIMIT)
{
	expect_refused(
		"{\"kind\":\"native\",\"library\":\"libm.so.6\"}", "", "'tools' must be an array");
	expect_refused(
		"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[{\"symbol\":\"sqrt\","
		"\"parameters\":[{\"name\":\"x\",\"type\":\"f65\"}]}]}",
		"/tools/0/parameters/0/type", "must be one of bool");
}

/* A value of each kind from `init`, in each place of a call. */
Test(native_driver, gives_the_values_of_init_to_tools, .timeout = LIMIT)
{
	static const char *const inits[] = {
		"{\"call\":\"frexp\",\"args\":[{\"f64\":8},{\"out\":{\"name\":\"x\",\"type\":"
		"\"i32\"}}]}",
		"{\"call\":\"abs\",\"args\":[{\"i32\":-4}],\"returns\":{\"name\":\"x\",\"type\":"
		"\"i32\"}}",
		"{\"call\":\"time\",\"args\":[{\"out\":{\"name\":\"x\",\"type\":\"i64\"}}]}",
		"{\"call\":\"posix_memalign\",\"args\":[{\"out\":{\"name\":\"x\",\"type\":"
		"\"handle\"}},{\"usize\":16},{\"usize\":64}],\"finally\":{\"call\":\"free\","
		"\"args\":[\"$x\"]}}",
		"{\"call\":\"strerror\",\"args\":[{\"i32\":2}],\"returns\":{\"name\":\"x\","
		"\"type\":\"str\"}}",
	};

	for (size_t i = 0; i < sizeof(inits) / sizeof(*inits); i++) {
		char load[1024];

		snprintf(load, sizeof(load),
			"{\"kind\":\"native\",\"library\":\"libm.so.6\",\"init\":[%s],\"tools\":[{"
			"\"steps\":[{\"call\":\"%s\",\"args\":[\"$$x\"%s],\"returns\":{\"name\":"
			"\"n\",\"type\":\"i32\"}}]}]}",
			inits[i], i < 3 ? "abs" : "strnlen", i < 3 ? "" : ",{\"usize\":0}");
		expect_loaded(load, "/libm.so.6\"}");
	}
}

Test(native_driver, has_the_tables_beside_the_tools, .timeout = LIMIT)
{
#define TABLES ",\"enums\":{\"way\":{\"up\":2048}},\"tools\":"
#define ROUND                                                                                      \
	"[{\"symbol\":\"fesetround\",\"parameters\":[{\"name\":\"way\",\"type\":\"enum\","         \
	"\"enum\":\"way\"}],\"returns\":{\"type\":\"i32\"}}]}"
	expect_loaded("{\"kind\":\"native\",\"library\":\"libm.so.6\"" TABLES ROUND, "/libm.so.6");
	expect_refused("{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":" ROUND,
		"/tools/0/parameters/0/enum", "must be the name of a table in 'enums'");
}
