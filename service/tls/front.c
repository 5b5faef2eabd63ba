/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tls/functions.h"
#include "util/file/paths.h"

/*
 * TLS for programs: each call goes to the module, which is loaded with the first client or server.
 * Linked, its libssl and libcrypto would cost each program 1.8 MB. The other functions get what the
 * module has made, or NULL.
 */
static const struct tls_functions *module;

/* Return the functions of @library; NULL for another version, with the reason. */
static const struct tls_functions *find_functions(
	void *library, const char *path, char ret_reason[TLS_REASON_BYTES])
{
	const struct tls_functions *found = dlsym(library, TLS_SYMBOL);

	if (found && strcmp(found->version, TOOLBOXD_VERSION) == 0)
		return found;
	snprintf(ret_reason, TLS_REASON_BYTES,
		"%.256s, which has TLS, is of version %.32s, this program of " TOOLBOXD_VERSION
		": start the program again",
		path, found ? found->version : "?");
	return NULL;
}

/* Return whether the module is loaded; if not, write in @ret_reason why. */
static bool load_module(char ret_reason[TLS_REASON_BYTES])
{
	char path[PATH_MAX] = TLS_MODULE;
	void *library = NULL;
	int r;

	if (module)
		return true;
	r = paths_find_file(TLS_MODULE, path);
	if (r == 0)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library)
		module = find_functions(library, path, ret_reason);
	else
		snprintf(ret_reason, TLS_REASON_BYTES,
			"cannot load %.256s, which has TLS: %.128s; install toolboxd and OpenSSL 3 "
			"again",
			path, r < 0 ? strerror(-r) : dlerror());
	return module != NULL;
}

struct tls_client *tls_client_new(char ret_reason[TLS_REASON_BYTES])
{
	return load_module(ret_reason) ? module->client_new(ret_reason) : NULL;
}

void tls_client_free(struct tls_client *client)
{
	if (client)
		module->client_free(client);
}

struct tls_session *tls_connect(struct tls_client *client, int fd, const char *host)
{
	return module->connect(client, fd, host);
}

int tls_server_new(const char *cert, const char *key, struct tls_server **ret_server,
	char ret_reason[TLS_REASON_BYTES])
{
	if (!load_module(ret_reason))
		return -ELIBACC;
	return module->server_new(cert, key, ret_server, ret_reason);
}

bool tls_server_is_stale(const struct tls_server *server, char ret_reason[TLS_REASON_BYTES])
{
	return module->server_is_stale(server, ret_reason);
}

void tls_server_free(struct tls_server *server)
{
	if (server)
		module->server_free(server);
}

struct tls_session *tls_accept(struct tls_server *server, int fd)
{
	return module->accept(server, fd);
}

void tls_session_free(struct tls_session *session)
{
	if (session)
		module->session_free(session);
}

int tls_handshake(struct tls_session *session)
{
	return module->handshake(session);
}

ssize_t tls_read(struct tls_session *session, void *bytes, size_t size)
{
	return module->read(session, bytes, size);
}

int tls_peek(struct tls_session *session)
{
	return module->peek(session);
}

ssize_t tls_write(struct tls_session *session, const void *bytes, size_t size)
{
	return module->write(session, bytes, size);
}

bool tls_has_begun(const struct tls_session *session)
{
	return module->has_begun(session);
}

bool tls_is_ready(const struct tls_session *session)
{
	return module->is_ready(session);
}

bool tls_wants_write(const struct tls_session *session)
{
	return module->wants_write(session);
}

void tls_finish(struct tls_session *session)
{
	module->finish(session);
}

void tls_describe_failure(const struct tls_session *session, char ret_reason[TLS_REASON_BYTES])
{
	module->describe_failure(session, ret_reason);
}
