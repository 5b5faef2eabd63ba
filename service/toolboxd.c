/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "config/config.h"
#include "util/process/notify.h"
#include "core/service.h"
#include "http/door.h"
#include "json/writer.h"
#include "loader/warn/open_bus.h"
#include "loader/warn/names.h"
#include "loader/offline.h"
#include "loop/loop.h"
#include "tls/server.h"
#include "util/file/file.h"
#include "util/process/guarded.h"
#include "util/log.h"
#include "util/text/visible.h"

/*
 * The daemon: it reads flags, then runs a service on a loop (core/service.h).
 */

#define EXIT_USAGE 2

#define TOOLBOX_DIRS_MAX 64

#define INDENT 2 /* spaces per level of JSON */

/* The size from which memory is returned to the system at once. A list of 3,000 tools has that
 * size, and takes half as long again in fresh memory (1.4 ms instead of 0.9); with twice this size,
 * up to 16 MiB more stay of what clients made us hold. */
#define MMAP_BYTES (1 << 20)

struct options {
	struct config_flags flags;
	enum log_level log_level; /* the flag, or the default */
	enum log_format log_format;
	const char *toolbox_dirs[TOOLBOX_DIRS_MAX];
	const char *http[CONFIG_HTTP_LISTEN_MAX];
	bool is_bus;
	bool is_check;
};

static const char help[] =
	"Usage: toolboxd [OPTION]...\n"
	"The tool service of a voice assistant's message bus.\n"
	"\n"
	"  --bus URL           the bus (default ws://127.0.0.1:8181/core)\n"
	"  --embedded-bus      be the bus as well, on the same address\n"
	"  --http [ADDR]       serve HTTP, too (default 127.0.0.1:8090, or unix:/PATH);\n"
	"                      repeat it for more addresses\n"
	"  --toolbox-dir DIR   a folder of toolboxes instead of the default ones; repeat\n"
	"                      it for more, the last one has precedence\n"
	"  --config FILE       one more configuration file, which overrides all others\n"
	"  --log-level LEVEL   debug, info, warning or error\n"
	"  --log-format FORMAT text or json\n"
	"  --check             load everything, report every problem, print the merged\n"
	"                      configuration, and exit; status 1 after an error\n"
	"  --version           print the version and exit\n"
	"  --help              print this and exit\n"
	"\n"
	"SIGHUP reloads, SIGTERM stops, SIGUSR2 stops when calls in flight are answered.\n"
	"toolboxctl talks to a running toolboxd.\n"
	"\n"
	"Examples:\n"
	"  toolboxd\n"
	"  toolboxd --embedded-bus --toolbox-dir toolbox.d\n"
	"  toolboxd --check\n";

/* Complain about @what, a text of the command line. */
static int usage(const char *reason, const char *what)
{
	return config_flags_misuse("toolboxd", reason, what);
}

/* Set *ret_index to the place of @word in @words. Returns 0, or the exit status after a complaint
 * about @flag. */
static int take_word(
	const char *flag, const char *word, const char *const *words, unsigned int *ret_index)
{
	char reason[128];
	size_t used = (size_t)snprintf(reason, sizeof(reason), "%s must be", flag);

	for (unsigned int i = 0; words[i]; i++) {
		if (strcmp(words[i], word) == 0) {
			*ret_index = i;
			return 0;
		}
		used += (size_t)snprintf(reason + used, sizeof(reason) - used, "%s %s",
			i == 0         ? ""
			: words[i + 1] ? ","
				       : " or",
			words[i]);
	}
	snprintf(reason + used, sizeof(reason) - used, ", not ");
	return usage(reason, word);
}

static int take_option(struct options *options, int option, const char *text)
{
	if (config_flags_take(&options->flags, option, optarg)) {
		if (option == 'l')
			return take_word(
				"--log-level", optarg, log_level_names, &options->log_level);
		if (option == 'f')
			return take_word(
				"--log-format", optarg, log_format_names, &options->log_format);
		return 0;
	}
	switch (option) {
	case 'e':
		options->is_bus = true;
		return 0;
	case 'H':
		if (options->flags.n_http == CONFIG_HTTP_LISTEN_MAX)
			return usage("too many --http", "");
		options->http[options->flags.n_http++] = optarg ? optarg : CONFIG_HTTP_DEFAULT;
		return 0;
	case 't':
		if (options->flags.n_toolbox_dirs == TOOLBOX_DIRS_MAX)
			return usage("too many --toolbox-dir", "");
		options->toolbox_dirs[options->flags.n_toolbox_dirs++] = optarg;
		return 0;
	case 'k':
		options->is_check = true;
		return 0;
	case 'v':
		puts("toolboxd " TOOLBOXD_VERSION);
		exit(EXIT_SUCCESS);
	case 'h':
		fputs(help, stdout);
		exit(EXIT_SUCCESS);
	case ':':
		return usage("a value is missing after ", text);
	default:
		return usage("unknown or ambiguous option, or a missing value: ", text);
	}
}

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"bus", required_argument, NULL, 'b'},
		{"embedded-bus", no_argument, NULL, 'e'},
		{"http", optional_argument, NULL, 'H'},
		{"toolbox-dir", required_argument, NULL, 't'},
		{"config", required_argument, NULL, 'c'},
		{"log-level", required_argument, NULL, 'l'},
		{"log-format", required_argument, NULL, 'f'},
		{"check", no_argument, NULL, 'k'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;
	int r = 0;

	/* It would print what a terminal obeys. */
	opterr = 0;
	while (r == 0 && (option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		/* --http takes the next argument unless that is a flag. */
		if (option == 'H' && !optarg && optind < argc && argv[optind][0] != '-')
			optarg = argv[optind++];
		r = take_option(options, option, argv[optind - 1]);
	}
	if (r == 0 && optind < argc)
		r = usage("unexpected argument ", argv[optind]);
	options->flags.toolbox_dirs = options->toolbox_dirs;
	options->flags.http = options->http;
	return r;
}

/* ── --check ─────────────────────────────────────────────────────────────────────────────────── */

/* Load everything, and describe it in @summary. */
static void check_toolboxes(const struct config *config, bool is_bus,
	struct diagnostic_counts *counts, struct buffer *summary)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	char reason[OFFLINE_WHY_BYTES];
	size_t n_tools;
	size_t n_toolboxes;

	if (offline_load(config, NULL, 0, diagnostic_print, counts, &catalogue, OFFLINE_ASKS_NEW,
		    reason) == 0) {
		warn_unknown(config, catalogue, diagnostic_print, counts);
		warn_unknown_toolboxes(config, catalogue, diagnostic_print, counts);
		if (is_bus)
			warn_open_bus(config, catalogue, diagnostic_print, counts);
		warn_open_bus_sockets(config, catalogue, diagnostic_print, counts);
		warn_open_bus_answers(config, catalogue, diagnostic_print, counts);
		warn_open_bus_guests(config, catalogue, diagnostic_print, counts);
		n_tools = catalogue_n_tools(catalogue);
		n_toolboxes = catalogue_n_toolboxes(catalogue);
		buffer_printf(summary, "%zu tool%s in %zu toolbox%s; ", n_tools,
			n_tools == 1 ? "" : "s", n_toolboxes, n_toolboxes == 1 ? "" : "es");
	} else {
		diagnostic_print(
			counts, &(struct diagnostic){.severity = DIAGNOSTIC_ERROR, .text = reason});
	}
}

/* Print JSON on one line; on a terminal indented, with the characters escaped that it would
 * obey. */
static void print_json(const struct buffer *json)
{
	cleanup(buffer_deinit) struct buffer indented = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (isatty(STDOUT_FILENO) &&
		json_tape_read(&tape, json->data, json->size, JSON_DOCUMENT_DEPTH_MAX, NULL) == 0) {
		json_write_indented(&indented, &tape, 0, INDENT);
		visible_append_lines(&text, indented.data, indented.size);
	} else {
		buffer_append(&text, json->data, json->size);
	}
	fwrite(text.data, 1, text.size, stdout);
	putchar('\n');
}

/* Report a certificate that HTTP could not use, or not now. */
static void check_tls(const struct config *config, const struct diagnostic_sink *sink)
{
	cleanup(tls_server_cleanup) struct tls_server *tls = NULL;
	char reason[TLS_REASON_BYTES];

	if (!config->http.tls_cert)
		return;
	if (tls_server_new(config->http.tls_cert, config->http.tls_key, &tls, reason) < 0)
		diagnostic_report(sink, DIAGNOSTIC_ERROR, NULL, 0, "http.tls", "%s", reason);
	else if (tls_server_is_stale(tls, reason))
		diagnostic_report(sink, DIAGNOSTIC_WARNING, NULL, 0, "http.tls", "%s", reason);
}

static int run_check(const struct options *options)
{
	cleanup(config_deinit) struct config config = {0};
	cleanup(buffer_deinit) struct buffer summary = {0};
	struct diagnostic_counts counts = {0};
	int r;

	/* For the widths of characters. */
	setlocale(LC_CTYPE, "C.UTF-8");
	r = config_read(&options->flags, diagnostic_print, &counts, &config);
	if (r != 0)
		return r == CONFIG_E_USAGE ? EXIT_USAGE : EXIT_FAILURE;
	log_setup(LOG_LEVEL_ERROR, config.log_format);
	config_report_absent_folders(
		&config, DIAGNOSTIC_ERROR, &(struct diagnostic_sink){diagnostic_print, &counts});
	if (options->is_bus && strcmp(config.embedded_token, BUS_TOKEN_UNKNOWN) == 0)
		diagnostic_report(&(struct diagnostic_sink){diagnostic_print, &counts},
			DIAGNOSTIC_ERROR, NULL, 0, "embedded.token_file",
			"it cannot be known whether a token is needed: no client could connect to "
			"the embedded bus");
	check_tls(&config, &(struct diagnostic_sink){diagnostic_print, &counts});
	/* Not even a description is asked for while it is unknown what is disabled. */
	if (!config.closed)
		check_toolboxes(&config, options->is_bus, &counts, &summary);
	if (config.is_disabled)
		diagnostic_report(&(struct diagnostic_sink){diagnostic_print, &counts},
			DIAGNOSTIC_WARNING, NULL, 0, "enabled",
			"is false: the service would end at once");
	print_json(&config.merged);
	diagnostic_counts_write(&counts, &summary);
	if (buffer_terminate(&summary))
		fprintf(stderr, "%s\n", summary.data);
	return counts.n_errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ── serving ─────────────────────────────────────────────────────────────────────────────────── */

/* Log once what the memory that is refused to this process means for patterns. */
static void report_slow_patterns(void)
{
	static bool is_reported;

	if (is_reported || regex_can_be_fast())
		return;
	is_reported = true;
	log_info("Regular expressions run about three times slower: they cannot be machine code, "
		 "because the system refuses memory that is written and executed "
		 "(MemoryDenyWriteExecute=), or PCRE2 has no JIT here. Their results are the same; "
		 "costly ones reach the limits of their time earlier");
}

static const char not_enabled[] = "Not enabled: toolboxd.enabled is false in the configuration";

/* Serve until stopped. *ret_again is set when the configuration is to be read again, for another
 * service. */
static int serve(const struct options *options, bool *ret_again)
{
	cleanup(config_deinit) struct config config = {0};
	cleanup(mistakes_deinit) struct mistakes mistakes = {0};
	cleanup(loop_cleanup) struct loop *loop = NULL;
	cleanup(service_cleanup) struct service *service = NULL;
	cleanup(http_door_cleanup) struct http_door *door = NULL;
	char url[BUS_URL_BYTES];
	bool has_http;
	struct paths paths;
	struct service_options service_options = {
		.flags = &options->flags,
		.paths = &paths,
		.mistakes = &mistakes,
		.is_bus = options->is_bus,
	};
	int r;

	log_hold();
	r = config_read(&options->flags, mistakes_take, &mistakes, &config);
	if (r == 0)
		config_report_absent_folders(&config, DIAGNOSTIC_WARNING,
			&(struct diagnostic_sink){mistakes_take, &mistakes});
	mistakes_end(&mistakes);
	if (r != 0) {
		log_setup(options->log_level, options->log_format);
		if (r < 0)
			log_error("The configuration cannot be read: %s", strerror(-r));
		return r == CONFIG_E_USAGE ? EXIT_USAGE : EXIT_FAILURE;
	}
	log_setup(config.log_level, config.log_format);
	if (config.is_disabled && !config.closed) {
		log_info("%s; to serve tools, remove it and start again", not_enabled);
		notify_not_enabled(not_enabled);
		return EXIT_SUCCESS;
	}
	report_slow_patterns();
	/* OpenSSL writes to sockets whose peer may be gone. */
	signal(SIGPIPE, SIG_IGN);
	bus_address_format(&config.bus, url);
	if (paths_find(&paths) < 0) {
		log_error("toolbox-host is neither beside this program nor at %s",
			paths.host_program);
		return EXIT_FAILURE;
	}
	has_http = config.http.n_addresses > 0;
	r = loop_new(&loop);
	if (r == 0)
		loop_serve_log(loop);
	if (r == 0)
		r = loop_adopt(loop, guarded_has_mark);
	if (r == 0)
		r = service_new(loop, &service_options, &config, &service);
	if (r < 0) {
		log_error("Cannot serve %s: %s", url, strerror(-r));
		return EXIT_FAILURE;
	}
	r = has_http ? http_door_new(loop, service, &door) : 0;
	if (r == -ENOMEM)
		log_error("Cannot serve HTTP: %s", strerror(-r));
	if (r < 0)
		return EXIT_FAILURE;
	r = loop_run(loop, -1);
	if (r < 0)
		log_error("The loop has failed: %s", strerror(-r));
	*ret_again = r == 0 && service_starts_again(service);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Other processes of the user, tools among them, cannot read the memory and the environment of this
 * one, nor trace it. LeakSanitizer traces its own process. */
static void hide_secrets(void)
{
#ifndef TOOLBOXD_SANITIZED
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning("The environment can be read by tools: %s", strerror(errno));
#endif
}

int main(int argc, char **argv)
{
	struct options options = {.log_level = LOG_LEVEL_INFO};
	bool is_wanted;
	int r;

	file_hold_standard();
	r = read_options(argc, argv, &options);
	if (r != 0)
		return r;
	/* Else each block that is freed raises the size from which blocks are returned to the
	 * system, up to 32 MiB: what hostile clients made us hold would stay. */
	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	hide_secrets();
	notify_init();
	if (options.is_check)
		return run_check(&options);
	do {
		is_wanted = false;
		r = serve(&options, &is_wanted);
	} while (is_wanted);
	return r;
}
