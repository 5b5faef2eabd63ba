/* SPDX-License-Identifier: Apache-2.0 */
#include "host/refusal.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "syscall_names.h"

#include "util/array.h"

#define COUNT(array) (ARRAY_SIZE(array))

/* The bits of a socket's type that are no flags. */
#define SOCKET_TYPE 0xf

struct constant {
	int value;
	const char *name;
};

#define CONSTANT(name)                                                                             \
	{                                                                                          \
		(name), #name                                                                      \
	}

static const struct constant families[] = {
	CONSTANT(AF_UNIX),
	CONSTANT(AF_INET),
	CONSTANT(AF_INET6),
	CONSTANT(AF_NETLINK),
	CONSTANT(AF_PACKET),
	CONSTANT(AF_ALG),
	CONSTANT(AF_VSOCK),
	CONSTANT(AF_BLUETOOTH),
	CONSTANT(AF_CAN),
};

static const struct constant types[] = {
	CONSTANT(SOCK_STREAM),
	CONSTANT(SOCK_DGRAM),
	CONSTANT(SOCK_RAW),
	CONSTANT(SOCK_SEQPACKET),
};

/* Append to @text, which has room for the longest description. */
__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, REFUSAL_TEXT_BYTES - length, format, arguments);
	va_end(arguments);
}

static void append_constant(
	char *text, const struct constant *constants, size_t n_constants, int value)
{
	for (size_t i = 0; i < n_constants; i++)
		if (constants[i].value == value) {
			append(text, "%s", constants[i].name);
			return;
		}
	append(text, "%u", (unsigned int)value);
}

/* A filter sees the low words of ints, and so does the kernel. */
static void append_socket(char *text, const struct seccomp_data *call)
{
	append(text, "(");
	append_constant(text, families, COUNT(families), (int)call->args[0]);
	append(text, ", ");
	append_constant(text, types, COUNT(types), (int)call->args[1] & SOCKET_TYPE);
	if (call->args[2])
		append(text, ", %u", (unsigned int)call->args[2]);
	append(text, ")");
}

void refusal_describe(const struct seccomp_data *call, char ret_text[REFUSAL_TEXT_BYTES])
{
	const char *name = NULL;

	ret_text[0] = '\0';
	if (call->arch != syscall_architecture) {
		append(ret_text, "a system call of another architecture");
		return;
	}
	if (call->nr >= 0 && (size_t)call->nr < COUNT(syscall_names))
		name = syscall_names[call->nr];
	if (name)
		append(ret_text, "%s", name);
	else
		append(ret_text, "system call %u", (unsigned int)call->nr);
	if (name && (strcmp(name, "socket") == 0 || strcmp(name, "socketpair") == 0))
		append_socket(ret_text, call);
	else if (name && strcmp(name, "ioctl") == 0)
		append(ret_text, "(…, 0x%x)", (unsigned int)call->args[1]);
	else if (name && strcmp(name, "fcntl") == 0)
		append(ret_text, "(…, %u)", (unsigned int)call->args[1]);
	else if (name && strcmp(name, "prctl") == 0)
		append(ret_text, "(%u)", (unsigned int)call->args[0]);
}

int refusal_answer(int listener, char ret_text[REFUSAL_TEXT_BYTES])
{
	struct seccomp_notif call = {0};
	struct seccomp_notif_resp answer = {.error = -EPERM};

	/* This does not wait: a call that is killed meanwhile leaves its place in the count. */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return -errno;
	refusal_describe(&call.data, ret_text);
	answer.id = call.id;
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 ? -errno : 0;
}
