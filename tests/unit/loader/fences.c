/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/fences.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "util/array.h"

/* The fences inside the paths of an operator. */

static struct config config;
static struct fences fences;
static struct sandbox_paths paths;

/* The folders of the user are below /home/me; no variable names another one. */
static void set_up(void)
{
	static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_CACHE_HOME",
		"XDG_STATE_HOME", "STATE_DIRECTORY", "CACHE_DIRECTORY", "OVOS_DISTRIBUTION_CONFIG",
		"MYCROFT_SYSTEM_CONFIG"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	setenv("HOME", "/home/me", 1);
}

static void tear_down(void)
{
	fences_deinit(&fences);
	text_list_deinit(&paths.list);
}

TestSuite(fences, .init = set_up, .fini = tear_down, .timeout = 60);

/* Find the fences anew. */
static void find(void)
{
	fences_deinit(&fences);
	cr_assert_eq(fences_find(&config, &fences), 0);
}

static bool hides(const char *path)
{
	return text_list_has(&fences.hidden, path);
}

static bool keeps(const char *path)
{
	return text_list_has(&fences.kept, path);
}

/* Make @list of the @n texts at @items, which stay the caller's. */
static struct text_list list_of(const char *const *items, size_t n)
{
	return (struct text_list){(char **)items, n};
}

Test(fences, hide_secrets_and_keep_what_programs_obey)
{
	static const struct {
		const char *path;
		bool is_hidden;
		bool is_kept;
	} cases[] = {
		{".ssh", true, false},
		{".gnupg", true, false},
		{".docker/config.json", true, false},
		{"approval.key", true, false},
		{"tokens.json", true, false},
		{".mozilla", true, false},
		{".var/app", true, false},
		{"snap/chromium", true, false},
		{".config/google-chrome-beta", true, false},
		{".config/hub", true, false},
		{"id_dsa", true, false},
		{"id_ecdsa_sk", true, false},
		{"id_ed25519_sk", true, false},
		{".cargo/credentials.toml", true, false},
		{".vault-token", true, false},
		{".my.cnf", true, false},
		{".config/toolboxd", true, false},
		{"/home/me/.local/state/toolboxd", true, false},
		{".bashrc", false, true},
		{".config/autostart", false, true},
		{"mycroft.conf", false, true},
		{"/home/me/.cache/toolboxd", false, true},
		{"/home/me/.config/mycroft", false, true},
		{"/home/me/.config/systemd", false, true},
		{"/home/me/.config/autostart", false, true},
		{"/home/me", false, false},
		{"", false, false},
	};

	find();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cr_expect_eq(hides(cases[i].path), cases[i].is_hidden, "%s", cases[i].path);
		cr_expect_eq(keeps(cases[i].path), cases[i].is_kept, "%s", cases[i].path);
	}
}

/* An entry is an absolute path or the end of one: no other form means anything to a sandbox. */
Test(fences, are_absolute_paths_or_ends_of_paths)
{
	const struct text_list *const lists[] = {&fences.hidden, &fences.kept};

	find();
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cr_expect_gt(lists[i]->n_items, 20);
		for (size_t j = 0; j < lists[i]->n_items; j++) {
			const char *path = lists[i]->items[j];

			cr_expect(*path && path[strlen(path) - 1] != '/', "%s", path);
			cr_expect(!strstr(path, "//") && !strstr(path, ".."), "%s", path);
			cr_expect_neq(*path, '~');
		}
	}
}

Test(fences, follow_the_folders_of_the_environment)
{
	static const struct {
		const char *variable;
		const char *value;
		const char *hidden; /* or NULL */
		const char *kept;
	} cases[] = {
		{"XDG_CONFIG_HOME", "/x", NULL, "/x/mycroft"},
		{"XDG_CONFIG_HOME", "/x", NULL, "/x/systemd"},
		{"XDG_CONFIG_HOME", "/x", NULL, "/x/autostart"},
		{"XDG_CONFIG_HOME", "x", NULL, "/home/me/.config/mycroft"},
		{"XDG_CACHE_HOME", "/x", NULL, "/x/toolboxd"},
		{"XDG_STATE_HOME", "/x", "/x/toolboxd", NULL},
		{"XDG_STATE_HOME", "x", "/home/me/.local/state/toolboxd", NULL},
		{"STATE_DIRECTORY", "/x:/y", "/x", NULL},
		{"CACHE_DIRECTORY", "/x", NULL, "/x"},
		{"MYCROFT_SYSTEM_CONFIG", "/x/ovos.conf", NULL, "/x/ovos.conf"},
		{"OVOS_DISTRIBUTION_CONFIG", "/x/d.conf", NULL, "/x/d.conf"},
		{"HOME", "/x", "/x/.local/state/toolboxd", "/x/.cache/toolboxd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		set_up();
		setenv(cases[i].variable, cases[i].value, 1);
		find();
		cr_expect(!cases[i].hidden || hides(cases[i].hidden), "case %zu", i);
		cr_expect(!cases[i].kept || keeps(cases[i].kept), "case %zu", i);
		unsetenv(cases[i].variable);
	}
}

Test(fences, take_no_relative_path_of_the_environment)
{
	setenv("CACHE_DIRECTORY", "cache", 1);
	setenv("MYCROFT_SYSTEM_CONFIG", "~/ovos.conf", 1);
	setenv("OVOS_DISTRIBUTION_CONFIG", "", 1);
	find();
	cr_expect_not(keeps("cache"));
	cr_expect_not(keeps("~/ovos.conf"));
	cr_expect_not(keeps(""));
}

Test(fences, have_the_files_and_folders_of_the_configuration)
{
	static const char *const folders[] = {"/conf/toolboxd", "/more"};
	static const char *const toolboxes[] = {"/boxes"};

	config.folders = list_of(folders, 2);
	config.toolbox_dirs = list_of(toolboxes, 1);
	config.approval_key_file = (char *)"/k/approval";
	config.embedded_token_file = (char *)"/k/bus.token";
	config.audit_file = (char *)"/k/audit.log";
	config.http.tls_key = (char *)"/k/tls.key";
	find();
	cr_expect(hides("/conf/toolboxd") && hides("/more"));
	cr_expect(hides("/k/approval") && hides("/k/bus.token"));
	cr_expect(hides("/k/audit.log") && hides("/k/tls.key"));
	cr_expect(keeps("/boxes"));
	cr_expect_not(hides("/boxes"), "a person may read manifests");
}

/* Files of sections that other programs and toolboxes read hold secrets, too. */
static const char sections[] =
	"{\"toolboxd\":{\"http\":{\"tokens\":[{\"name\":\"a\",\"token_sha256\":\"00\"},"
	"{\"name\":\"b\",\"token_file\":\"/k/http.token\"},"
	"{\"name\":\"c\",\"token_file\":\"/k/other.token\"}],\"tls\":{\"key\":\"/k/tls.key\"}},"
	"\"audit\":{\"file\":\"/k/audit.log\"},"
	"\"toolboxes\":{\"mail\":{\"password_file\":%s}},"
	"\"agent\":{\"api_key_file\":\"/k/model.key\"}}}";

/* Let the configuration have @sections with @password_file. */
static void merge(const char *password_file)
{
	buffer_deinit(&config.merged);
	buffer_printf(&config.merged, sections, password_file);
	cr_assert_eq(buffer_status(&config.merged), 0);
}

Test(fences, have_the_secrets_of_other_programs_and_of_toolboxes)
{
	merge("\"~/mail.password\"");
	find();
	cr_expect(hides("/k/http.token") && hides("/k/other.token"));
	cr_expect(hides("/home/me/mail.password"));
	cr_expect(hides("/k/model.key"));
	cr_expect(hides("/k/tls.key") && hides("/k/audit.log"), "also where nothing listens");
	merge("[\"/k/mail.password\"]");
	find();
	cr_expect(hides("/k/mail.password"));
	buffer_deinit(&config.merged);
}

/* ── for the kernel ──────────────────────────────────────────────────────────────────────────── */

Test(fences, are_below_the_home_folder_for_the_kernel)
{
	static const char *const items[] = {".ssh", "/etc/keys", "a/b"};
	const struct text_list list = list_of(items, 3);

	cr_assert_eq(fences_paths(&list, "/home/me", NULL, &paths), 0);
	cr_assert_eq(paths.list.n_items, 3);
	cr_expect_str_eq(paths.list.items[0], "/home/me/.ssh");
	cr_expect_str_eq(paths.list.items[1], "/etc/keys");
	cr_expect_str_eq(paths.list.items[2], "/home/me/a/b");
	cr_expect_eq(paths.n_operator, 0, "a fence is no path of the operator");
}

Test(fences, are_the_absolute_ones_without_a_home_folder)
{
	static const char *const items[] = {".ssh", "/etc/keys", "a/b"};
	const struct text_list list = list_of(items, 3);

	cr_assert_eq(fences_paths(&list, NULL, NULL, &paths), 0);
	cr_assert_eq(paths.list.n_items, 1);
	cr_expect_str_eq(paths.list.items[0], "/etc/keys");
}

/* An exception opens the path it names, and no other. */
Test(fences, give_way_to_the_exact_exception_alone)
{
	static const struct {
		const char *exception;
		size_t n_left;
	} cases[] = {
		{"/home/me/.ssh", 1},
		{"/etc/keys", 1},
		{".ssh", 2},
		{"/home/me/.ssh/", 2},
		{"/home/me/.ss", 2},
		{"/home/me/.ssh/id", 2},
		{"/home/me", 2},
		{"/", 2},
		{"", 2},
		{"/home/ME/.ssh", 2},
	};
	static const char *const items[] = {".ssh", "/etc/keys"};
	const struct text_list list = list_of(items, 2);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct text_list exceptions = list_of(&cases[i].exception, 1);

		cr_assert_eq(fences_paths(&list, "/home/me", &exceptions, &paths), 0);
		cr_expect_eq(paths.list.n_items, cases[i].n_left, "%s", cases[i].exception);
		text_list_deinit(&paths.list);
	}
}

/* The lists fit into a LOAD frame, with a configuration of the usual size. */
Test(fences, leave_room_in_the_lists_of_a_host)
{
	find();
	cr_expect_lt(fences.hidden.n_items, SANDBOX_LOADED_PATHS_MAX / 4);
	cr_expect_lt(fences.kept.n_items, SANDBOX_LOADED_PATHS_MAX / 4);
}

/* A fence that is lost would open what it closes: rather there are no fences, and no toolbox. */
static void expect_all_or_none(void)
{
	size_t n_hidden;
	size_t n_kept;

	find();
	n_hidden = fences.hidden.n_items;
	n_kept = fences.kept.n_items;
	for (size_t n = 0; scarce_once_after(n); n++) {
		int r;

		fences_deinit(&fences);
		text_list_deinit(&paths.list);
		r = fences_find(&config, &fences);
		r = r ? r : fences_paths(&fences.hidden, "/home/me", NULL, &paths);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "after %zu: %d", n, r);
		if (r != 0)
			continue;
		cr_expect_eq(fences.hidden.n_items, n_hidden, "after %zu", n);
		cr_expect_eq(fences.kept.n_items, n_kept, "after %zu", n);
		cr_expect_eq(paths.list.n_items, n_hidden, "after %zu", n);
	}
}

Test(fences, are_all_there_or_none_when_memory_is_short)
{
	merge("\"~/mail.password\"");
	expect_all_or_none();
	buffer_deinit(&config.merged);
}

Test(fences, are_all_there_or_none_with_the_variables_of_systemd)
{
	setenv("STATE_DIRECTORY", "/var/lib/toolboxd", 1);
	setenv("CACHE_DIRECTORY", "/var/cache/toolboxd", 1);
	setenv("XDG_CONFIG_HOME", "/etc/xdg", 1);
	unsetenv("HOME");
	expect_all_or_none();
}
