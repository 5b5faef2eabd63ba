/* SPDX-License-Identifier: Apache-2.0 */
#include "config_fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

struct buffer told;
struct config config;

static const char *const variables[] = {"OVOS_DISTRIBUTION_CONFIG", "MYCROFT_SYSTEM_CONFIG",
	"XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "OVOS_CONFIG_BASE_FOLDER",
	"OVOS_CONFIG_FILENAME", "TOOLBOXD_BUS", "TOOLBOXD_TOOLBOX_DIRS", "TOOLBOXD_TOOLS_ENABLED",
	"TOOLBOXD_TOOLS_DISABLED", "TOOLBOXD_TOOLS", "TOOLBOXD_APPROVAL_MODE",
	"TOOLBOXD_TOOL_RESULT_MAX_CHARS", "TOOLBOXD_LOG_LEVEL", "TOOLBOXD_LOG_FORMAT",
	"TOOLBOXD_DEBUG"};

const char *in_folder(const char *name)
{
	static char paths[8][128];
	static unsigned int used;
	char *path = paths[used++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

void config_set_up(void)
{
	strcpy(folder, "/tmp/unit-config-XXXXXX");
	cr_assert(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	setenv("HOME", in_folder("home"), 1);
	setenv("OVOS_DISTRIBUTION_CONFIG", in_folder("distribution.conf"), 1);
	setenv("MYCROFT_SYSTEM_CONFIG", in_folder("system.conf"), 1);
	setenv("XDG_CONFIG_DIRS", in_folder("xdg"), 1);
}

void config_tear_down(void)
{
	char command[96];

	config_deinit(&config);
	buffer_deinit(&told);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}

void write_file(const char *name, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s", in_folder(name));
	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

void write_user_file(const char *text)
{
	write_file("home/.config/mycroft/mycroft.conf", text);
}

static void tell(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text)
{
	const char *name = file ? strrchr(file, '/') + 1 : "-";

	(void)data;
	buffer_printf(&told, "%s %s:%u %s: %s\n", severity == CONFIG_ERROR ? "error" : "warning",
		name, line, path, text);
}

int read_with(const struct config_flags *flags)
{
	int r;

	buffer_reset(&told);
	config_deinit(&config);
	r = config_read(flags, tell, NULL, &config);
	buffer_terminate(&told);
	return r;
}

int read_all(void)
{
	return read_with(&(struct config_flags){0});
}

void expect_silence(void)
{
	cr_expect_str_eq(told.data, "");
}

void expect_told(const char *words)
{
	cr_expect(strstr(told.data, words), "not told: %s\nbut: %s", words, told.data);
}

void expect_bus(const char *url)
{
	char actual[BUS_URL_BYTES];

	bus_address_format(&config.bus, actual);
	cr_expect_str_eq(actual, url);
}

void expect_list(const struct config_list *list, const char *expected)
{
	struct buffer text = {0};

	for (size_t i = 0; i < list->n_items; i++)
		buffer_printf(&text, "%s%s", i > 0 ? "," : "", list->items[i]);
	cr_expect_str_eq(buffer_terminate(&text), expected);
	buffer_deinit(&text);
}
