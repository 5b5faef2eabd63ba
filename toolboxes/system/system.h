/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <toolbox.h>

/* The processes and the lines of a log that a call shows which asks for no number. */
#define PROCESSES_SHOWN 10
#define LOG_LINES_SHOWN 50

/* The handlers of the tools; each answers its call. @data is not used. */
void system_info(struct toolbox_call call, void *data);
void cpu_temperature(struct toolbox_call call, void *data);
void memory_usage(struct toolbox_call call, void *data);
void disk_space(struct toolbox_call call, void *data);
void battery(struct toolbox_call call, void *data);
void network(struct toolbox_call call, void *data);
void processes(struct toolbox_call call, void *data);
void audio_devices(struct toolbox_call call, void *data);
void tool_statistics(struct toolbox_call call, void *data);
void service_status(struct toolbox_call call, void *data);
void service_logs(struct toolbox_call call, void *data);
void service(struct toolbox_call call, void *data);
void show_time(struct toolbox_call call, void *data);

/* Keep the call of the initialisation, whose settings the tools of services read. */
void services_init(struct toolbox_call call);

/* Put @text, cut at 4,096 bytes, with U+FFFD for bytes that are not UTF-8; NULL puts nothing. */
void put_lossy(struct toolbox_call call, const char *key, const char *text);

/* Put @value with one digit after the point. */
void put_tenths(struct toolbox_call call, const char *key, double value);

/* Fail with the text given by @format. */
void fail(struct toolbox_call call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
