/* SPDX-License-Identifier: Apache-2.0 */
#include "core/metrics/exposition.h"

#include <criterion/criterion.h>
#include <string.h>

#include "asking.h"
#include "core/metrics/metrics.h"

#define LIBM                                                                                       \
	"{'kind':'native','library':'libm.so.6','risk':'read','tools':[{'name':'root','native':{"  \
	"'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],'returns':{'type':'f64'}}}]}"

TestSuite(exposition, .init = asking_set_up, .fini = asking_tear_down, .timeout = 300);

/* The service counts only what a test has counted. */
static void start(void)
{
	write_box("libm.json", LIBM);
	write_box("more.json", LIBM);
	asking_start();
	ask_for("ovos.tools.list", "{}");
	metrics_deinit(&service->metrics);
	cr_assert_eq(metrics_init(&service->metrics), 0);
	memset(service->reload.outcomes, 0, sizeof(service->reload.outcomes));
}

static void count(const char *id, const char *name, int code, uint64_t duration_us)
{
	struct toolbox toolbox = {.id = (char *)id};
	struct tool tool = {.toolbox = &toolbox, .name = (char *)name};

	metrics_count_call(&service->metrics, &tool, duration_us, code);
}

/* The metrics hold @expected, whole lines. */
static void expect_lines(enum exposition_format format, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const char *found;

	exposition_write(service, format, &text);
	found = strstr(buffer_terminate(&text), expected);
	cr_expect(found && (found == text.data || found[-1] == '\n'), "%s\nis not in\n%s", expected,
		text.data);
}

#define BUCKET(le, n)                                                                              \
	"toolboxd_call_duration_seconds_bucket{toolbox=\"a\",tool=\"b\",le=\"" le "\"} " n "\n"

Test(exposition, tells_calls_by_code_and_their_durations)
{
	start();
	count("a", "b", -1, 100);
	count("a", "b", -1, 101);
	count("a", "b", ANSWER_TIMEOUT, 121000000);
	metrics_count_refused(&service->metrics, NULL, ANSWER_UNKNOWN_TOOL);
	expect_lines(EXPOSITION_TEXT,
		"# TYPE toolboxd_calls_total counter\n"
		"# HELP toolboxd_calls_total Calls that were answered, by code; ok for a result.\n"
		"toolboxd_calls_total{toolbox=\"a\",tool=\"b\",code=\"ok\"} 2\n"
		"toolboxd_calls_total{toolbox=\"a\",tool=\"b\",code=\"timeout\"} 1\n"
		"toolboxd_calls_total{toolbox=\"\",tool=\"\",code=\"unknown_tool\"} 1\n"
		"# TYPE toolboxd_call_duration_seconds histogram\n"
		"# HELP toolboxd_call_duration_seconds From the request to the answer, of calls "
		"that ran.\n" BUCKET("0.0001", "1") BUCKET("0.00025", "2") BUCKET(
			"0.0005", "2") BUCKET("0.001", "2") BUCKET("0.0025", "2")
			BUCKET("0.005", "2") BUCKET("0.01", "2") BUCKET("0.025", "2") BUCKET(
				"0.05", "2") BUCKET("0.1", "2") BUCKET("0.25", "2") BUCKET("1", "2")
				BUCKET("5", "2") BUCKET("30", "2") BUCKET("120", "2") BUCKET("+Inf",
					"3") "toolboxd_call_duration_seconds_count{toolbox=\"a\","
					     "tool=\"b\"} 3\n"
					     "toolboxd_call_duration_seconds_sum{toolbox=\"a\","
					     "tool=\"b\"} 121.000201\n"
					     "# TYPE toolboxd_host_starts_total counter\n");
}

Test(exposition, tells_starts_and_reloads)
{
	struct package package = {.id = (char[]){"p"}};

	start();
	metrics_count_start(&service->metrics, &package, RUNNER_START_LOAD);
	metrics_count_start(&service->metrics, &package, RUNNER_START_PRESTART);
	metrics_count_start(&service->metrics, &package, RUNNER_START_PRESTART);
	service->reload.outcomes[RELOAD_FAILED] = 3;
	expect_lines(EXPOSITION_TEXT,
		"# TYPE toolboxd_host_starts_total counter\n"
		"# HELP toolboxd_host_starts_total Host processes that were started, by reason.\n"
		"toolboxd_host_starts_total{toolbox=\"p\",reason=\"load\"} 1\n"
		"toolboxd_host_starts_total{toolbox=\"p\",reason=\"prestart\"} 2\n"
		"# TYPE toolboxd_reloads_total counter\n"
		"# HELP toolboxd_reloads_total Reloads that are over, the first load among them.\n"
		"toolboxd_reloads_total{outcome=\"changed\"} 0\n"
		"toolboxd_reloads_total{outcome=\"unchanged\"} 0\n"
		"toolboxd_reloads_total{outcome=\"failed\"} 3\n");
}

#define GAUGE(name, help, value)                                                                   \
	"# TYPE toolboxd_" name " gauge\n# HELP toolboxd_" name " " help "\ntoolboxd_" name        \
	" " value "\n"

/* The state, with this number of hosts, is the end of the metrics. */
#define STATE(n_hosts)                                                                             \
	GAUGE("hosts", "Host processes.", n_hosts)                                                 \
	GAUGE("queue", "Calls that wait for a host.", "0")                                         \
	GAUGE("tools", "Tools that are offered.", "2")                                             \
	GAUGE("guests", "Guests with offered tools.", "0")                                         \
	GAUGE("guests_waiting", "Registrations that wait for a load.", "0")                        \
	GAUGE("bus_connected", "1 while there is a bus, else 0.", "1")

Test(exposition, tells_the_state_of_now)
{
	start();
	expect_lines(EXPOSITION_TEXT, STATE("0"));
	ask_for("ovos.tools.invoke", "{'name':'libm__root','args':{'x':4}}");
	ask_for("ovos.tools.invoke", "{'name':'more__root','args':{'x':4}}");
	expect_lines(EXPOSITION_TEXT, STATE("2"));
}

Test(exposition, counts_the_hosts_that_toolboxes_share_once)
{
	struct offer *offer;
	struct runner **runners;
	struct package *package;

	start();
	offer = &service->offer;
	runners = offer->runners;
	ask_for("ovos.tools.invoke", "{'name':'libm__root','args':{'x':4}}");
	offer->runners = (struct runner *[]){runners[1], runners[0], runners[0]};
	offer->n_runners = 3;
	package = (struct package *)runner_package(runners[0]);
	package->n_toolboxes = 2;
	expect_lines(EXPOSITION_TEXT, STATE("1"));
	package->n_toolboxes = 1;
	offer->runners = runners;
	offer->n_runners = 2;
}

/* A reload has replaced the toolbox, whose host still runs. */
Test(exposition, counts_the_hosts_of_retired_toolboxes)
{
	struct runner **retired;
	struct offer *offer;

	start();
	offer = &service->offer;
	retired = offer->retired;
	ask_for("ovos.tools.invoke", "{'name':'more__root','args':{'x':4}}");
	offer->retired = &offer->runners[1];
	offer->n_retired = 1;
	offer->n_runners = 1;
	expect_lines(EXPOSITION_TEXT, STATE("1"));
	offer->retired = retired;
	offer->n_retired = 0;
	offer->n_runners = 2;
}

Test(exposition, escapes_labels)
{
	start();
	count("a\"b", "c\\d\ne", ANSWER_BUSY, 1);
	expect_lines(EXPOSITION_TEXT,
		"toolboxd_calls_total{toolbox=\"a\\\"b\",tool=\"c\\\\d\\ne\",code=\"busy\"} 1\n");
}

Test(exposition, shows_no_duration_of_a_tool_that_never_ran)
{
	struct toolbox toolbox = {.id = (char[]){"a"}};
	struct tool tool = {.toolbox = &toolbox, .name = (char[]){"b"}};

	start();
	metrics_count_refused(&service->metrics, &tool, ANSWER_BUSY);
	expect_lines(EXPOSITION_TEXT,
		"# HELP toolboxd_call_duration_seconds From the request to the answer, of calls "
		"that ran.\n# TYPE toolboxd_host_starts_total counter\n");
}

/* The family of a counter has the name without _total, and the text has an end. */
Test(exposition, knows_openmetrics)
{
	start();
	expect_lines(EXPOSITION_OPENMETRICS,
		"# TYPE toolboxd_calls counter\n"
		"# HELP toolboxd_calls Calls that were answered, by code; ok for a result.\n"
		"# UNIT toolboxd_call_duration_seconds seconds\n"
		"# TYPE toolboxd_call_duration_seconds histogram\n");
	expect_lines(EXPOSITION_OPENMETRICS,
		"# TYPE toolboxd_reloads counter\n"
		"# HELP toolboxd_reloads Reloads that are over, the first load among them.\n"
		"toolboxd_reloads_total{outcome=\"changed\"} 0\n");
	expect_lines(EXPOSITION_OPENMETRICS, STATE("0") "# EOF\n");
	cr_expect_str_eq(exposition_type(EXPOSITION_OPENMETRICS),
		"application/openmetrics-text; version=1.0.0; charset=utf-8");
	cr_expect_str_eq(
		exposition_type(EXPOSITION_TEXT), "text/plain; version=0.0.4; charset=utf-8");
}
