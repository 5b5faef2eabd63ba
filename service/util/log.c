/* SPDX-License-Identifier: Apache-2.0 */
#include "util/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log_sink.h"
#include "util/text/visible.h"

#define LOG_LINE_BYTES    4096
#define LOG_MESSAGE_BYTES (LOG_LINE_BYTES / 2)

const char *const log_level_names[] = {"debug", "info", "warning", "error", NULL};
const char *const log_format_names[] = {
	[LOG_FORMAT_TEXT] = "text", [LOG_FORMAT_JSON] = "json", NULL};

static const char *const level_marks[] = {"DEBUG", "INFO ", "WARN ", "ERROR"};

/* The priorities of syslog(3). */
static const char *const level_priorities[] = {"<7>", "<6>", "<4>", "<3>"};

static enum log_level level_min = LOG_LEVEL_INFO;
static enum log_format line_format = LOG_FORMAT_TEXT;
static bool has_priorities;
static log_shape_function line_shape;

static struct held_line {
	enum log_level level;
	char *message;
} held[LOG_HELD_MAX];
static size_t n_held;
static bool is_holding;

/* Return whether stderr is the journal, by systemd's variable (systemd.exec(5),
 * $JOURNAL_STREAM). */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device;
	unsigned long long inode;
	struct stat status;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

bool log_is_on(enum log_level level)
{
	return level >= level_min;
}

static size_t append_bytes(char *line, size_t used, const char *text, size_t size)
{
	if (size > LOG_LINE_BYTES - used)
		return used;
	memcpy(line + used, text, size);
	return used + size;
}

/* Copy @text into @line as one line of valid UTF-8; JSON escapes serve both formats, quotes and
 * backslashes are escaped only in JSON. */
static size_t append_escaped(char *line, size_t used, const char *text, bool json)
{
	const char *end = text + strlen(text);

	while (text < end) {
		char shown[VISIBLE_BYTES];
		size_t size;

		if (json && (*text == '"' || *text == '\\'))
			used = append_bytes(line, used, "\\", 1);
		text += visible_next(text, (size_t)(end - text), shown, &size);
		used = append_bytes(line, used, shown, size);
	}
	return used;
}

static size_t append_prefix(char *line, enum log_level level)
{
	struct timespec now;
	struct tm parts;
	const char *priority = has_priorities ? level_priorities[level] : "";
	char stamp[32];
	int n;

	clock_gettime(CLOCK_REALTIME, &now);
	if (line_format == LOG_FORMAT_JSON) {
		gmtime_r(&now.tv_sec, &parts);
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &parts);
		n = snprintf(line, LOG_LINE_BYTES,
			"%s{\"time\": \"%s.%03ldZ\", \"level\": \"%s\", \"message\": \"", priority,
			stamp, now.tv_nsec / 1000000, log_level_names[level]);
	} else if (line_format == LOG_FORMAT_PLAIN) {
		n = snprintf(line, LOG_LINE_BYTES, "%s ", log_level_names[level]);
	} else {
		localtime_r(&now.tv_sec, &parts);
		strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &parts);
		n = snprintf(line, LOG_LINE_BYTES, "%s%s.%03ld %s ", priority, stamp,
			now.tv_nsec / 1000000, level_marks[level]);
	}
	return (size_t)n;
}

static void write_message(enum log_level level, const char *message)
{
	char line[LOG_LINE_BYTES + 4];
	size_t used = append_prefix(line, level);

	used = append_escaped(line, used, message, line_format == LOG_FORMAT_JSON);
	if (line_format == LOG_FORMAT_JSON) {
		memcpy(line + used, "\"}", 2);
		used += 2;
	}
	log_flush();
	if (line_format == LOG_FORMAT_PLAIN && line_shape) {
		cleanup(buffer_deinit) struct buffer shaped = {0};

		line_shape(line, used, &shaped);
		buffer_append_char(&shaped, '\n');
		if (buffer_status(&shaped) == 0) {
			log_sink_put(shaped.data, shaped.size);
			return;
		}
	}
	line[used++] = '\n';
	log_sink_put(line, used);
}

/* Write the lines held back, as far as the level asks for them. */
static void release(void)
{
	is_holding = false;
	for (size_t i = 0; i < n_held; i++) {
		if (log_is_on(held[i].level))
			write_message(held[i].level, held[i].message);
		free(held[i].message);
	}
	n_held = 0;
}

static void write_or_hold(enum log_level level, const char *message)
{
	char *copy = is_holding ? strdup(message) : NULL;

	if (is_holding && (!copy || n_held == LOG_HELD_MAX))
		release();
	if (is_holding)
		held[n_held++] = (struct held_line){level, take_ptr(copy)};
	else if (log_is_on(level))
		write_message(level, message);
	free(copy);
}

void log_hold(void)
{
	is_holding = true;
}

void log_shape(log_shape_function shape)
{
	line_shape = shape;
}

void log_setup(enum log_level level, enum log_format format)
{
	level_min = level;
	line_format = format;
	has_priorities = is_journal();
	release();
}

void log_write(enum log_level level, const char *format, ...)
{
	char message[LOG_MESSAGE_BYTES];
	va_list arguments;

	if (!is_holding && !log_is_on(level))
		return;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	write_or_hold(level, message);
}

/* Return whether a line may be written at @now_ms. */
static bool is_in_rate(struct log_rate *rate, uint64_t now_ms)
{
	if (now_ms - rate->window_start_ms >= LOG_RATE_INTERVAL_MS) {
		rate->window_start_ms = now_ms;
		rate->used = 0;
	}
	if (rate->used < (rate->burst ? rate->burst : LOG_RATE_BURST))
		return true;
	rate->suppressed++;
	return false;
}

void log_limited(struct log_rate *rate, enum log_level level, const char *format, ...)
{
	char message[LOG_MESSAGE_BYTES];
	char more[64] = "";
	va_list arguments;
	int size;

	if ((!is_holding && !log_is_on(level)) || !is_in_rate(rate, clock_now_ms()))
		return;
	rate->used++;
	if (rate->suppressed > 0)
		snprintf(more, sizeof(more), " (and %" PRIu64 " more like it)", rate->suppressed);
	else if (rate->used == (rate->burst ? rate->burst : LOG_RATE_BURST))
		snprintf(more, sizeof(more), " (more like it are only counted for %d s)",
			LOG_RATE_INTERVAL_MS / 1000);
	rate->suppressed = 0;
	va_start(arguments, format);
	size = vsnprintf(message, sizeof(message) - sizeof(more), format, arguments);
	va_end(arguments);
	if (size >= (int)(sizeof(message) - sizeof(more)))
		size = (int)(sizeof(message) - sizeof(more)) - 1;
	memcpy(message + (size > 0 ? size : 0), more, sizeof(more));
	write_or_hold(level, message);
}

bool log_flush(void)
{
	unsigned long long lost;

	if (!log_sink_flush())
		return false;
	lost = log_sink_take_lost();
	if (lost > 0)
		log_warning("%llu lines of the log were lost: stderr was not read in time", lost);
	return log_sink_flush();
}

void log_finish(void)
{
	uint64_t end_ms = clock_now_ms() + LOG_FINISH_MS;
	uint64_t now_ms = clock_now_ms();

	release();
	while (!log_flush() && now_ms < end_ms) {
		log_sink_wait((int)(end_ms - now_ms));
		now_ms = clock_now_ms();
	}
	log_sink_reset();
}
