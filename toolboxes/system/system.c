/* SPDX-License-Identifier: Apache-2.0 */

/*
 * system: the state of the device on which toolboxd runs. toolbox.h is the manual of plugins; the
 * idea of each tool is in its own file.
 *
 *   info.c memory.c sensors.c battery.c disk.c network.c processes.c audio.c      clock.c
 *        └──── place.c: files of the kernel ─── fields.c: their texts      zones.c: time zones
 *
 *   services.c ─── manager.c: D-Bus, journal.c       statistics.c: figures that come with the call
 */

#include "system.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stringify.h"
#include "text.h"

/* The most bytes of a text in an answer, which a file of the kernel does not fill alone. */
#define SHOWN_BYTES 4096

void put_lossy(struct toolbox_call call, const char *key, const char *text)
{
	struct text lossy = {0};

	if (!text)
		return;
	text_add_lossy(&lossy, text, strnlen(text, SHOWN_BYTES));
	toolbox_put_string(call, key, text_string(&lossy));
	text_free(&lossy);
}

void put_tenths(struct toolbox_call call, const char *key, double value)
{
	/* The sum with 0 is no -0. */
	toolbox_put_double(call, key, round(value * 10) / 10 + 0.0);
}

void fail(struct toolbox_call call, const char *format, ...)
{
	struct text lossy = {0};
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_add_lossy(&lossy, text, strlen(text));
	toolbox_fail(call, lossy.has_failed ? "out of memory" : text_string(&lossy));
	text_free(&lossy);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define OBJECT(required, properties)                                                               \
	"{\"type\":\"object\",\"required\":[" required "],\"properties\":{" properties "}}"
#define CLOSED(required, properties)                                                               \
	"{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required              \
	"],\"properties\":{" properties "}}"
#define LIST(name, item) "\"" name "\":{\"type\":\"array\",\"items\":" item "}"
#define STRING(name)     "\"" name "\":{\"type\":\"string\"}"
#define NUMBER(name)     "\"" name "\":{\"type\":\"number\"}"
#define INTEGER(name)    "\"" name "\":{\"type\":\"integer\"}"
#define BOOLEAN(name)    "\"" name "\":{\"type\":\"boolean\"}"

/* The sentences of a tool in English and in German. */
#define SPOKEN(en, de)                                                                             \
	"{\"en\":{\"done\":\"" en "\",\"failed\":\"I could not find out: {error}.\"},"             \
	"\"de\":{\"done\":\"" de "\",\"failed\":\"Das war nicht herauszufinden: {error}.\"}}"

/* clang-format off */
/* The schemas, a line for a few members. */
static const char info_result[] = OBJECT(
	"\"hostname\",\"kernel\",\"architecture\"",
	STRING("hostname") "," STRING("os") "," STRING("kernel") "," STRING("architecture") ","
	STRING("model") "," STRING("processor") "," INTEGER("processors") "," NUMBER("load_1m") ","
	NUMBER("load_5m") "," NUMBER("load_15m") "," INTEGER("uptime_seconds") ","
	INTEGER("uptime_days"));

static const char temperature_result[] = OBJECT(
	"\"celsius\",\"sensor\",\"sensors\"",
	NUMBER("celsius") "," STRING("sensor") ","
	LIST("sensors", OBJECT("\"name\",\"celsius\"", STRING("name") "," NUMBER("celsius"))));

static const char memory_result[] = OBJECT(
	"\"total_bytes\",\"available_bytes\",\"used_bytes\",\"used_percent\"",
	INTEGER("total_bytes") "," INTEGER("available_bytes") "," INTEGER("used_bytes") ","
	INTEGER("used_percent") "," INTEGER("swap_total_bytes") "," INTEGER("swap_used_bytes"));

#define DISK                                                                                       \
	STRING("path") "," INTEGER("total_bytes") "," INTEGER("used_bytes") ","                    \
	INTEGER("free_bytes") "," NUMBER("free_gb") "," INTEGER("used_percent")

static const char disk_schema[] = CLOSED("",
	"\"path\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Absolute path of a file "
	"or folder on the disk. Default: /, and a list of all disks.\"}");

static const char disk_result[] = OBJECT(
	"\"path\",\"total_bytes\",\"free_bytes\",\"used_percent\"",
	DISK "," LIST("disks", OBJECT("\"path\"", DISK "," STRING("type") "," STRING("device"))));

static const char battery_result[] = OBJECT(
	"\"percent\",\"state\",\"batteries\"",
	INTEGER("percent") "," STRING("state") "," BOOLEAN("on_mains") ","
	LIST("batteries", OBJECT("\"name\",\"percent\"",
		STRING("name") "," INTEGER("percent") "," STRING("state"))));

static const char network_result[] = OBJECT(
	"\"has_default_route\",\"interfaces\"",
	BOOLEAN("has_default_route") "," STRING("default_interface") "," STRING("gateway") ","
	STRING("address") ","
	LIST("interfaces", OBJECT("\"name\",\"state\",\"addresses\"",
		STRING("name") "," STRING("state") "," BOOLEAN("wireless") ","
		STRING("hardware_address") "," LIST("addresses", "{\"type\":\"string\"}") ","
		INTEGER("speed_mbit") "," INTEGER("rx_bytes") "," INTEGER("tx_bytes"))));

static const char processes_schema[] = CLOSED("",
	"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":"
	STRINGIFY(PROCESSES_SHOWN) ","
	"\"description\":\"The most processes.\"},"
	"\"by\":{\"enum\":[\"cpu\",\"memory\"],\"default\":\"cpu\",\"description\":\"Which come "
	"first: those that use most of the processor, or of the memory.\"}");

static const char processes_result[] = OBJECT(
	"\"n_processes\",\"top\",\"processes\"",
	INTEGER("n_processes") "," STRING("top") ","
	LIST("processes", OBJECT("\"pid\",\"name\"",
		INTEGER("pid") "," STRING("name") "," INTEGER("uid") "," STRING("state") ","
		NUMBER("cpu_percent") "," INTEGER("memory_bytes"))));

static const char audio_result[] = OBJECT(
	"\"devices\",\"n_outputs\",\"n_inputs\"",
	LIST("devices", OBJECT("\"device\",\"name\",\"output\",\"input\"",
		STRING("device") "," STRING("name") "," STRING("card") "," BOOLEAN("output") ","
		BOOLEAN("input"))) ","
	INTEGER("n_outputs") "," INTEGER("n_inputs"));

static const char time_schema[] = CLOSED("",
	"\"timezone\":{\"type\":\"string\",\"minLength\":1,\"description\":\"A time zone "
	"(Europe/Berlin), or its city (Tokyo). Default: the zone of this device.\"}");

static const char time_result[] = OBJECT(
	"\"time\",\"date\",\"weekday\",\"timezone\",\"utc_offset\",\"iso\",\"unix\"",
	STRING("time") "," STRING("date") "," STRING("weekday") "," STRING("timezone") ","
	STRING("utc_offset") "," STRING("iso") "," INTEGER("unix"));
static const char statistics_schema[] = CLOSED("",
	"\"toolbox\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The id of a "
	"toolbox. Default: all.\"}");

#define COUNTS INTEGER("calls") "," INTEGER("failures")

static const char statistics_result[] = OBJECT(
	"\"calls\",\"failures\",\"toolboxes\",\"left_out\"",
	COUNTS "," INTEGER("left_out") ","
	LIST("toolboxes", OBJECT("\"toolbox_id\",\"tools\"",
		STRING("toolbox_id") ","
		LIST("tools", OBJECT("\"name\",\"calls\",\"failures\"",
			STRING("name") "," COUNTS "," NUMBER("p50_ms") "," NUMBER("p99_ms"))))));

#define UNIT(name)                                                                                 \
	"\"" name "\":{\"type\":\"string\",\"minLength\":1,"                                       \
	"\"description\":\"The name of a unit of systemd; without a suffix, a service.\"}"
#define LINES                                                                                      \
	"\"lines\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500,"                           \
	"\"default\":" STRINGIFY(LOG_LINES_SHOWN) ",\"description\":\"The most lines.\"}"

static const char unit_schema[] = CLOSED("\"unit\"", UNIT("unit"));
static const char logs_schema[] = CLOSED("\"unit\"", UNIT("unit") "," LINES);
static const char service_schema[] = CLOSED("\"name\"",
	UNIT("name") ","
	"\"action\":{\"enum\":[\"status\",\"start\",\"stop\",\"restart\",\"enable\",\"disable\","
	"\"logs\"],\"default\":\"status\"}," LINES);

#define STATUS                                                                                     \
	STRING("unit") "," STRING("manager") "," STRING("description") "," STRING("load_state")    \
	"," STRING("active_state") "," BOOLEAN("is_active") "," STRING("sub_state") ","            \
	STRING("unit_file_state") "," STRING("since") "," INTEGER("main_pid")
#define LOG LIST("lines", OBJECT("\"text\"", STRING("time") "," STRING("text")))

static const char status_result[] = OBJECT("\"unit\",\"active_state\",\"is_active\"", STATUS);
static const char logs_result[] = OBJECT("\"unit\",\"lines\"", STRING("unit") "," LOG);
static const char service_result[] = OBJECT("\"unit\"", STRING("action") "," STATUS "," LOG);
/* clang-format on */

static const char *const info_triggers[] = {
	"\\bwhat(?: is|'s| are) (?:the|your) (?:system info\\w*|host ?name)\\b",
	"\\bhow long (?:have you|has (?:this|the) (?:device|computer|system)) been "
	"(?:up|on|running)\\b",
	"\\bwie lange (?:läufst du|läuft (?:das|der|dieses) (?:gerät|rechner|computer|system))\\b",
	NULL,
};

static const char *const temperature_triggers[] = {
	"\\b(?:cpu|processor)(?:'s)? temperature\\b",
	"\\btemperature of (?:the|your) (?:cpu|processor)\\b",
	"\\bhow (?:hot|warm) (?:is|are) (?:the|your|you)\\b ?(?:cpu|processor|computer)?\\W*$",
	("\\bwie (?:heiß|warm) (?:ist|bist) (?:der|dein|die|deine|du)\\b "
	 "?(?:prozessor|cpu|rechner)?\\W*$"),
	"\\b(?:prozessor|cpu)[- ]?temperatur\\b",
	NULL,
};

static const char *const memory_triggers[] = {
	"\\bhow much (?:memory|ram) (?:is|do you|have you)\\b",
	"\\bmemory usage\\b",
	"\\bwie ?viel (?:arbeitsspeicher|ram) (?:ist|hast|wird)\\b",
	NULL,
};

static const char *const disk_triggers[] = {
	"\\bhow much (?:disk|storage)(?: space)? (?:is|do)\\b",
	"\\bhow full is (?:the|your) (?:disk|storage)\\b",
	"\\bwie ?viel (?:platz|speicherplatz) (?:ist|hast|gibt)\\b",
	"\\bwie voll ist (?:die|deine) (?:festplatte|platte)\\b",
	NULL,
};

static const char *const battery_triggers[] = {
	"\\bbattery (?:level|charge|status)\\b",
	"\\bhow (?:full|much|charged) is (?:the|your) battery\\b",
	"\\bwie voll ist (?:der|dein) (?:akku|batterie)\\b",
	"\\b(?:akku|batterie)(?:stand|ladung)\\b",
	NULL,
};

static const char *const network_triggers[] = {
	"\\bwhat(?: is|'s) (?:the|your|my) (?:ip|network) address\\b",
	"\\b(?:wie (?:ist|lautet)|was ist) (?:die|deine|meine) (?:ip|netzwerk)[- ]?adresse\\b",
	NULL,
};

static const char *const time_triggers[] = {
	"\\bwhat time is it in (?<timezone>.+?)\\W*$",
	"\\bwhat(?: is|'s) the time in (?<timezone>.+?)\\W*$",
	"\\bwhat time is it(?: now)?\\W*$",
	"\\bwhat(?: is|'s) the time(?: now)?\\W*$",
	"\\bwie (?:spät|viel uhr) ist es in (?<timezone>.+?)\\W*$",
	"\\bwie (?:spät|viel uhr) ist es(?: jetzt)?\\W*$",
	NULL,
};

static const struct toolbox_tool tools[] = {
	{
		.name = "system_info",
		.title = "About this device",
		.description = "Describe this device: its name, operating system, kernel, model, "
			       "processor, load, and how long it has been on.",
		.output_schema = info_result,
		.triggers = info_triggers,
		.spoken = SPOKEN("This is {hostname}, on for {uptime_days} days.",
			"Das ist {hostname}, seit {uptime_days} Tagen an."),
		.handler = system_info,
	},
	{
		.name = "cpu_temperature",
		.title = "Temperature of the processor",
		.description = "Measure the temperature of the processor in degrees Celsius, and "
			       "list all sensors of the device. Fails on a device without one.",
		.output_schema = temperature_result,
		.triggers = temperature_triggers,
		.spoken = SPOKEN("The processor has {celsius} degrees Celsius.",
			"Der Prozessor hat {celsius} Grad."),
		.handler = cpu_temperature,
	},
	{
		.name = "memory_usage",
		.title = "Memory",
		.description = "Return how much memory is in use and available, in bytes and in "
			       "percent.",
		.output_schema = memory_result,
		.triggers = memory_triggers,
		.spoken = SPOKEN("{used_percent} percent of the memory is in use.",
			"{used_percent} Prozent des Arbeitsspeichers sind belegt."),
		.handler = memory_usage,
	},
	{
		.name = "disk_space",
		.title = "Disk space",
		.description = "Return how much space is free and used on the disk of a path, or "
			       "on all disks.",
		.argument_schema = disk_schema,
		.output_schema = disk_result,
		.timeout_ms = 10000,
		.triggers = disk_triggers,
		.spoken = SPOKEN("{free_gb} gigabytes are free.", "{free_gb} Gigabyte sind frei."),
		.examples = "[{\"args\":{\"path\":\"/\"}}]",
		.handler = disk_space,
	},
	{
		.name = "battery",
		.title = "Battery",
		.description = "Return the charge of the battery in percent, and whether it is "
			       "charging. Fails on a device without a battery.",
		.output_schema = battery_result,
		.triggers = battery_triggers,
		.spoken = SPOKEN("The battery is at {percent} percent.",
			"Der Akku ist bei {percent} Prozent."),
		.handler = battery,
	},
	{
		.name = "network",
		.title = "Network",
		.description = "List the network interfaces of this device with their states, "
			       "addresses and bytes, and its way to other networks.",
		.output_schema = network_result,
		.triggers = network_triggers,
		.spoken = SPOKEN("The address is {address}.", "Die Adresse ist {address}."),
		.handler = network,
	},
	{
		.name = "processes",
		.title = "Processes",
		.description = "List the running programs that use most of the processor (measured "
			       "for a quarter of a second) or of the memory.",
		.argument_schema = processes_schema,
		.output_schema = processes_result,
		.timeout_ms = 10000,
		.examples = "[{\"args\":{\"limit\":5,\"by\":\"memory\"}}]",
		.handler = processes,
	},
	{
		.name = "audio_devices",
		.title = "Sound devices",
		.description = "List the devices of ALSA for playing and recording sound, with the "
			       "names to configure them by.",
		.output_schema = audio_result,
		.handler = audio_devices,
	},
	{
		.name = "time",
		.title = "Time",
		.description = "Return the time, date and weekday, here or in another time zone.",
		.argument_schema = time_schema,
		.output_schema = time_result,
		.triggers = time_triggers,
		.spoken = SPOKEN("It is {time}.", "Es ist {time} Uhr."),
		.examples = "[{\"args\":{\"timezone\":\"Tokyo\"}}]",
		.handler = show_time,
	},
	{
		.name = "service_status",
		.title = "State of a service",
		.description = "Return whether a unit of systemd is active, enabled, and since "
			       "when; of the user of toolboxd, else of the system.",
		.argument_schema = unit_schema,
		.output_schema = status_result,
		.timeout_ms = 20000,
		.handler = service_status,
	},
	{
		.name = "service_logs",
		.title = "Lines of a service",
		.description = "Return the last lines of the journal about a unit of systemd that "
			       "the operator has named.",
		.argument_schema = logs_schema,
		.output_schema = logs_result,
		.timeout_ms = 20000,
		.result_max_chars = 1100000,
		.handler = service_logs,
	},
	{
		.name = "service",
		.title = "Services",
		.description = "Start, stop, restart, enable or disable a unit of systemd that the "
			       "operator has named, or return its state or its last lines.",
		.argument_schema = service_schema,
		.output_schema = service_result,
		.risk = TOOLBOX_EXECUTE,
		.timeout_ms = 60000,
		.result_max_chars = 1100000,
		.examples = "[{\"args\":{\"name\":\"ovos-audio\",\"action\":\"restart\"}}]",
		.handler = service,
	},
	{
		.name = "tool_statistics",
		.title = "Statistics of tools",
		.description = "Return how often each tool of toolboxd was called, how often it "
			       "failed, and how long calls took (median and 99th percentile).",
		.argument_schema = statistics_schema,
		.output_schema = statistics_result,
		.result_max_chars = 300000,
		.given = "statistics",
		.handler = tool_statistics,
	},
};

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	(void)ret_tools;
	(void)ret_n_tools;
	services_init(call);
	return 0;
}

TOOLBOX_PLUGIN(tools, init, NULL);
