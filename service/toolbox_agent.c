/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "agent/agent.h"
#include "config/config.h"
#include "util/file/file.h"
#include "util/process/notify.h"

/*
 * toolbox-agent: it reads flags, then runs an agent on a loop (agent/agent.h).
 */

#define EXIT_USAGE 2

static const char help[] =
	"Usage: toolbox-agent [OPTION]...\n"
	"The loop with a language model, for the tools of toolboxd on the same bus.\n"
	"\n"
	"  --bus URL           the bus (default ws://127.0.0.1:8181/core)\n"
	"  --config FILE       one more configuration file, which overrides all others\n"
	"  --log-level LEVEL   debug, info, warning or error\n"
	"  --log-format FORMAT text or json\n"
	"  --version           print the version and exit\n"
	"  --help              print this and exit\n"
	"\n"
	"The model and all else is in the section toolboxd.agent of mycroft.conf.\n"
	"SIGHUP reads it again, SIGTERM stops. toolboxctl chat talks to a running agent.\n";

/* Complain about @what, a text of the command line. */
static int misuse(const char *what)
{
	return config_flags_misuse("toolbox-agent", "unknown option, or a missing value: ", what);
}

/* Read the flags. Return 0, or the exit status after a complaint. */
static int read_agent_flags(int argc, char **argv, struct config_flags *flags)
{
	static const struct option known[] = {
		{"bus", required_argument, NULL, 'b'},
		{"config", required_argument, NULL, 'c'},
		{"log-level", required_argument, NULL, 'l'},
		{"log-format", required_argument, NULL, 'f'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	/* It would print what a terminal obeys. */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
		if (config_flags_take(flags, option, optarg))
			continue;
		if (option == 'v')
			puts("toolbox-agent " TOOLBOXD_VERSION);
		else if (option == 'h')
			fputs(help, stdout);
		else
			return misuse(argv[optind - 1]);
		exit(EXIT_SUCCESS);
	}
	return optind < argc ? misuse(argv[optind]) : 0;
}

/* Report a mistake of the configuration (diagnostic_function). */
static void log_mistake(void *data, const struct diagnostic *diagnostic)
{
	(void)data;
	log_write(diagnostic->severity == DIAGNOSTIC_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
		"%s:%u %s: %s", diagnostic->file ? diagnostic->file : "", diagnostic->line,
		diagnostic->pointer ? diagnostic->pointer : "", diagnostic->text);
}

struct serving {
	const struct config_flags *flags;
	struct agent *agent;
};

static void stop_agent(void *data, int signal)
{
	struct serving *serving = data;

	(void)signal;
	agent_stop(serving->agent);
}

/* Read the configuration, and log its mistakes. Return whether it can be used; else @ret_status is
 * an exit status. Set up the log; after the start, only by a configuration that can be used. */
static bool read_configuration(const struct config_flags *flags, bool is_start,
	struct config_agent *config, int *ret_status)
{
	bool is_closed = false;
	int r = config_read_agent(flags, log_mistake, NULL, config, &is_closed);

	if (is_start || (r == 0 && !is_closed))
		log_setup(config->log_level, config->log_format);
	if (r == -EPERM)
		log_error("agent.api_key_file: only its owner may read it (chmod 600)");
	else if (r < 0)
		log_error("The configuration, or the file of the key, cannot be read: %s",
			strerror(-r));
	else if (r == 0 && is_closed)
		log_error("A mistake in the configuration may hide a restriction: mend it, and "
			  "start or reload again (toolboxd --check)");
	*ret_status = r == CONFIG_E_USAGE ? EXIT_USAGE : EXIT_FAILURE;
	return r == 0 && !is_closed;
}

/* Put the configuration as it is now in force; the one before stays after a mistake. */
static void reload_agent(void *data, int signal)
{
	struct serving *serving = data;
	cleanup(config_agent_deinit) struct config_agent config = {.log_level = LOG_LEVEL_INFO};
	int status;
	int r;

	(void)signal;
	notify_reloading();
	if (!read_configuration(serving->flags, false, &config, &status)) {
		log_warning("The configuration before stays in force");
	} else if (config.is_disabled) {
		log_info("Not enabled any more: toolboxd.enabled is false in the configuration");
		agent_stop(serving->agent);
		return;
	} else {
		r = agent_reload(serving->agent, &config);
		if (r < 0)
			log_error("Reloading failed: %s", strerror(-r));
	}
	notify_ready();
}

/* Serve until stopped, with @config, which is taken over. Return the exit status. */
static int serve_agent(const struct config_flags *flags, struct config_agent *config)
{
	cleanup(loop_cleanup) struct loop *loop = NULL;
	cleanup(agent_cleanup) struct agent *agent = NULL;
	struct serving serving = {.flags = flags};
	int r = loop_new(&loop);

	if (r == 0)
		loop_serve_log(loop);
	r = r ? r : loop_add_signal(loop, SIGTERM, stop_agent, &serving);
	r = r ? r : loop_add_signal(loop, SIGINT, stop_agent, &serving);
	r = r ? r : loop_add_signal(loop, SIGHUP, reload_agent, &serving);
	r = r ? r : agent_new(loop, config, &agent);
	serving.agent = agent;
	r = r ? r : loop_run(loop, -1);
	if (r < 0)
		log_error("Cannot go on: %s", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Other processes of the user cannot read the key of the model's server in the memory of this one.
 * LeakSanitizer traces its own process. */
static void hide_key(void)
{
#ifndef TOOLBOXD_SANITIZED
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warning("The memory can be read by others: %s", strerror(errno));
#endif
}

int main(int argc, char **argv)
{
	struct config_flags flags = {0};
	cleanup(config_agent_deinit) struct config_agent config = {.log_level = LOG_LEVEL_INFO};
	int r;

	file_hold_standard();
	r = read_agent_flags(argc, argv, &flags);
	if (r != 0)
		return r;
	hide_key();
	notify_init();
	signal(SIGPIPE, SIG_IGN);
	/* For the classes of characters. */
	setlocale(LC_CTYPE, "C.UTF-8");
	log_hold();
	if (!read_configuration(&flags, true, &config, &r))
		return r;
	if (config.is_disabled) {
		log_info("Not enabled: toolboxd.enabled is false in the configuration");
		notify_not_enabled("Not enabled: toolboxd.enabled is false");
		return EXIT_SUCCESS;
	}
	return serve_agent(&flags, &config);
}
