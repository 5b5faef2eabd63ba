/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../scratch.h"
#include "tls/client.h"
#include "tls/server.h"

/*
 * Both sides on one socket pair, with certificates that the test makes:
 *
 *   ca.pem signs good.pem (localhost, 127.0.0.1) and old.pem (expired); other.pem signs itself
 */

#define TURNS_MAX 100
#define DAY_S     (24L * 60 * 60)

struct made {
	EVP_PKEY *key;
	X509 *certificate;
};

static void add_extension(X509 *certificate, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	cr_assert(extension && X509_add_ext(certificate, extension, -1) == 1);
	X509_EXTENSION_free(extension);
}

static void save(const struct made *made, const char *name)
{
	char file[32];
	FILE *out;

	snprintf(file, sizeof(file), "%s.pem", name);
	out = fopen(scratch_path(file), "w");
	cr_assert(out && PEM_write_X509(out, made->certificate) == 1);
	fclose(out);
	snprintf(file, sizeof(file), "%s.key", name);
	out = fopen(scratch_path(file), "w");
	cr_assert(out && fchmod(fileno(out), 0600) == 0);
	cr_assert_eq(PEM_write_PrivateKey(out, made->key, NULL, NULL, 0, NULL, NULL), 1);
	fclose(out);
}

/* Make a certificate that is valid until @end_s from now, signed by @issuer; NULL: by itself, for
 * signing. */
static struct made make(const char *name, long end_s, const struct made *issuer)
{
	struct made made = {EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"), X509_new()};
	X509_NAME *subject = X509_get_subject_name(made.certificate);

	X509_set_version(made.certificate, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), rand());
	X509_gmtime_adj(X509_getm_notBefore(made.certificate), -10 * DAY_S);
	X509_gmtime_adj(X509_getm_notAfter(made.certificate), end_s);
	X509_set_pubkey(made.certificate, made.key);
	X509_NAME_add_entry_by_txt(
		subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(
		made.certificate, issuer ? X509_get_subject_name(issuer->certificate) : subject);
	if (!issuer)
		add_extension(made.certificate, NID_basic_constraints, "critical,CA:TRUE");
	add_extension(made.certificate, NID_subject_alt_name,
		"DNS:localhost,DNS:*.kitchen.lan,IP:127.0.0.1");
	cr_assert_gt(X509_sign(made.certificate, issuer ? issuer->key : made.key, EVP_sha256()), 0);
	save(&made, name);
	return made;
}

static void forget(struct made *made)
{
	EVP_PKEY_free(made->key);
	X509_free(made->certificate);
}

static void set_up(void)
{
	struct made ca;
	struct made good;
	struct made old;
	struct made other;

	scratch_set_up();
	ca = make("ca", DAY_S, NULL);
	good = make("good", DAY_S, &ca);
	old = make("old", -DAY_S, &ca);
	other = make("other", DAY_S, NULL);
	forget(&ca);
	forget(&good);
	forget(&old);
	forget(&other);
	setenv("SSL_CERT_FILE", scratch_path("ca.pem"), 1);
}

TestSuite(tls_session, .init = set_up, .fini = scratch_tear_down, .timeout = 60);

/* A client and a server, and their ends of the socket pair. */
struct pair {
	struct tls_client *client;
	struct tls_server *server;
	struct tls_session *ours;   /* the client's */
	struct tls_session *theirs; /* the server's */
	int fds[2];
};

/* Begin a session with the server that has the certificate @name, asked for as @host. */
static struct pair begin(const char *name, const char *host)
{
	struct pair pair;
	char cert[32];
	char key[32];
	char reason[TLS_REASON_BYTES];

	snprintf(cert, sizeof(cert), "%s.pem", name);
	snprintf(key, sizeof(key), "%s.key", name);
	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.fds), 0);
	pair.client = tls_client_new(reason);
	cr_assert(pair.client, "%s", reason);
	cr_assert_eq(tls_server_new(scratch_path(cert), scratch_path(key), &pair.server, reason), 0,
		"%s", reason);
	pair.ours = tls_connect(pair.client, pair.fds[0], host);
	pair.theirs = tls_accept(pair.server, pair.fds[1]);
	cr_assert(pair.ours && pair.theirs);
	return pair;
}

static void end(struct pair *pair)
{
	tls_session_free(pair->ours);
	tls_session_free(pair->theirs);
	tls_client_free(pair->client);
	tls_server_free(pair->server);
	close(pair->fds[0]);
	close(pair->fds[1]);
}

/* Take turns until the handshake of the client is over. Return 0, or its errno with @ret_reason. */
static int shake_hands(struct pair *pair, char ret_reason[TLS_REASON_BYTES])
{
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		if (tls_handshake(pair->ours) == 0) {
			/* The server may still have to read the client's last flight. */
			tls_handshake(pair->theirs);
			return 0;
		}
		if (errno != EAGAIN) {
			int error = errno;

			tls_describe_failure(pair->ours, ret_reason);
			return error;
		}
		tls_handshake(pair->theirs);
	}
	return EAGAIN;
}

static void expect_trusted(const char *host)
{
	struct pair pair = begin("good", host);
	char reason[TLS_REASON_BYTES] = "";
	char bytes[TLS_RECORD_BYTES];

	cr_assert_eq(shake_hands(&pair, reason), 0, "%s: %s", host, reason);
	cr_assert_eq(tls_write(pair.ours, "hello", 5), 5);
	cr_assert_eq(tls_read(pair.theirs, bytes, sizeof(bytes)), 5);
	cr_expect_eq(memcmp(bytes, "hello", 5), 0);
	end(&pair);
}

static void expect_refused(const char *name, const char *host, const char *reason)
{
	struct pair pair = begin(name, host);
	char text[TLS_REASON_BYTES] = "";

	cr_expect_eq(shake_hands(&pair, text), EPROTO);
	cr_expect(strstr(text, reason), "%s at %s: '%s'", name, host, text);
	cr_expect_not(tls_is_ready(pair.ours));
	end(&pair);
}

Test(tls_session, trusts_a_certificate_for_its_names)
{
	expect_trusted("localhost");
	expect_trusted("bus.kitchen.lan");
	expect_trusted("127.0.0.1");
}

Test(tls_session, trusts_no_certificate_for_another_name)
{
	expect_refused("good", "localhost.example", "not trusted: hostname mismatch");
	expect_refused("good", "a.bus.kitchen.lan", "not trusted: hostname mismatch");
	expect_refused("good", "127.0.0.2", "not trusted: IP address mismatch");
	expect_refused("good", "::1", "not trusted: IP address mismatch");
}

Test(tls_session, trusts_no_certificate_of_the_past)
{
	expect_refused("old", "localhost", "not trusted: certificate has expired");
}

Test(tls_session, trusts_no_certificate_of_an_unknown_issuer)
{
	expect_refused("other", "localhost", "not trusted: self-signed certificate");
	setenv("SSL_CERT_FILE", "/nonexistent", 1);
	setenv("SSL_CERT_DIR", "/nonexistent", 1);
	expect_refused("good", "localhost", "not trusted: unable to get local issuer certificate");
}

Test(tls_session, fails_when_the_peer_answers_with_something_else)
{
	static const char clear[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	struct pair pair = begin("good", "localhost");
	char reason[TLS_REASON_BYTES];

	cr_assert_eq(write(pair.fds[1], clear, sizeof(clear) - 1), (ssize_t)sizeof(clear) - 1);
	cr_assert_eq(tls_handshake(pair.ours), -1);
	cr_expect_eq(errno, EPROTO);
	tls_describe_failure(pair.ours, reason);
	cr_expect_str_eq(reason, "wrong version number");
	end(&pair);
}

Test(tls_session, waits_for_a_peer_that_stops_in_the_handshake)
{
	struct pair pair = begin("good", "localhost");

	for (int turn = 0; turn < 3; turn++) {
		cr_expect_eq(tls_handshake(pair.ours), -1);
		cr_expect_eq(errno, EAGAIN);
	}
	end(&pair);
}

Test(tls_session, fails_when_the_peer_goes_in_the_handshake)
{
	struct pair pair = begin("good", "localhost");

	cr_expect_eq(tls_handshake(pair.ours), -1);
	cr_expect_eq(shutdown(pair.fds[1], SHUT_WR), 0);
	cr_expect_eq(tls_handshake(pair.ours), -1);
	cr_expect_neq(errno, EAGAIN);
	end(&pair);
}

Test(tls_session, reads_what_came_before_the_end)
{
	struct pair pair = begin("good", "localhost");
	char reason[TLS_REASON_BYTES];
	char bytes[TLS_RECORD_BYTES];

	cr_assert_eq(shake_hands(&pair, reason), 0);
	cr_assert_eq(tls_write(pair.theirs, "last", 4), 4);
	tls_finish(pair.theirs);
	cr_assert_eq(shutdown(pair.fds[1], SHUT_WR), 0);
	cr_expect_eq(tls_read(pair.ours, bytes, sizeof(bytes)), 4);
	cr_expect_eq(tls_read(pair.ours, bytes, sizeof(bytes)), 0);
	end(&pair);
}

/* A read into the room of a record takes all of it: the socket is readable again, or there is
 * nothing. */
Test(tls_session, keeps_nothing_that_the_socket_does_not_report)
{
	static char text[3 * TLS_RECORD_BYTES];
	struct pair pair = begin("good", "localhost");
	char reason[TLS_REASON_BYTES];
	char bytes[TLS_RECORD_BYTES];
	size_t sent = 0;
	char first;

	cr_assert_eq(shake_hands(&pair, reason), 0);
	while (sent < sizeof(text)) {
		ssize_t part = tls_write(pair.theirs, text + sent, sizeof(text) - sent);

		cr_assert_gt(part, 0);
		sent += (size_t)part;
	}
	while (sent > 0) {
		ssize_t part;

		cr_assert_eq(recv(pair.fds[0], &first, 1, MSG_PEEK), 1);
		part = tls_read(pair.ours, bytes, sizeof(bytes));
		cr_assert(part > 0 || errno == EAGAIN);
		sent -= part > 0 ? (size_t)part : 0;
	}
	cr_expect_eq(tls_peek(pair.ours), -1);
	cr_expect_eq(errno, EAGAIN);
	end(&pair);
}

/* ── the files of a server ───────────────────────────────────────────────────────────────────── */

static const char *refusal_of(const char *cert, const char *key, int status)
{
	static char reason[TLS_REASON_BYTES];
	struct tls_server *server = NULL;
	int r = tls_server_new(scratch_path(cert), scratch_path(key), &server, reason);

	cr_expect_eq(r, status, "%s and %s: %d %s", cert, key, r, reason);
	cr_expect_null(server);
	return reason;
}

static void expect_no_server(const char *cert, const char *key, int status, const char *words)
{
	const char *reason = refusal_of(cert, key, status);

	cr_expect(strstr(reason, words), "%s and %s: %s", cert, key, reason);
}

Test(tls_session, needs_the_files_of_a_certificate_and_its_key)
{
	scratch_write("empty", "");
	scratch_write("text", "no certificate\n");
	cr_assert_eq(mkdir(scratch_path("folder"), 0700), 0);
	cr_assert_eq(mkfifo(scratch_path("fifo"), 0600), 0);
	cr_assert_eq(chmod(scratch_path("good.pem"), 0600), 0);
	expect_no_server("none.pem", "good.key", -ENOENT, "none.pem: No such file or directory");
	expect_no_server("good.pem", "none.key", -ENOENT, "none.key: No such file or directory");
	expect_no_server("folder", "good.key", -EINVAL, "folder is no regular file");
	expect_no_server("good.pem", "fifo", -EINVAL, "fifo is no regular file");
	expect_no_server("empty", "good.key", -EINVAL, "empty is no certificate in PEM: ");
	expect_no_server("text", "good.key", -EINVAL, "text is no certificate in PEM: ");
	expect_no_server(
		"good.pem", "text", -EINVAL, "text is no key without a passphrase in PEM: ");
	expect_no_server("good.pem", "good.pem", -EINVAL,
		"good.pem is no key without a passphrase in PEM: ");
	expect_no_server("good.key", "good.key", -EINVAL, "good.key is no certificate in PEM: ");
}

Test(tls_session, takes_no_key_of_another_certificate)
{
	const char *reason = refusal_of("good.pem", "other.key", -EINVAL);
	char expected[TLS_REASON_BYTES];

	snprintf(expected, sizeof(expected), "%s is not the key of %s", scratch_path("other.key"),
		scratch_path("good.pem"));
	cr_expect_str_eq(reason, expected);
}

Test(tls_session, takes_no_key_that_every_user_may_read_or_write)
{
	static const mode_t modes[] = {0604, 0602, 0606, 0644, 0666};
	struct tls_server *server = NULL;
	char reason[TLS_REASON_BYTES];

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		cr_assert_eq(chmod(scratch_path("good.key"), modes[i]), 0);
		expect_no_server("good.pem", "good.key", -EACCES, "every user may read ");
	}
	cr_assert_eq(chmod(scratch_path("good.key"), 0640), 0);
	cr_assert_eq(chmod(scratch_path("good.pem"), 0666), 0);
	cr_expect_eq(
		tls_server_new(scratch_path("good.pem"), scratch_path("good.key"), &server, reason),
		0, "a certificate is no secret: %s", reason);
	tls_server_free(server);
}

Test(tls_session, asks_for_no_passphrase)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	FILE *out = fopen(scratch_path("locked.key"), "w");

	cr_assert(out && fchmod(fileno(out), 0600) == 0);
	cr_assert_eq(PEM_write_PrivateKey(out, key, EVP_aes_128_cbc(), (const unsigned char *)"pw",
			     2, NULL, NULL),
		1);
	fclose(out);
	EVP_PKEY_free(key);
	expect_no_server("good.pem", "locked.key", -EINVAL,
		"locked.key is no key without a passphrase in PEM: ");
}

/* Return the reason why the certificate @name, which is valid from @begin_s to @end_s from now, is
 * not valid now; "" if it is. */
static const char *staleness(long begin_s, long end_s)
{
	static char reason[TLS_REASON_BYTES];
	struct made ca = make("issuer", DAY_S, NULL);
	struct made made = make("timed", end_s, &ca);
	struct tls_server *server = NULL;

	X509_gmtime_adj(X509_getm_notBefore(made.certificate), begin_s);
	cr_assert_gt(X509_sign(made.certificate, ca.key, EVP_sha256()), 0);
	save(&made, "timed");
	reason[0] = '\0';
	cr_assert_eq(tls_server_new(
			     scratch_path("timed.pem"), scratch_path("timed.key"), &server, reason),
		0, "%s", reason);
	reason[0] = '\0';
	cr_expect_eq(tls_server_is_stale(server, reason), reason[0] != '\0');
	tls_server_free(server);
	forget(&made);
	forget(&ca);
	return reason;
}

Test(tls_session, knows_a_certificate_that_is_not_valid_now)
{
	time_t end = time(NULL) - DAY_S;
	char day[64];

	cr_expect_str_empty(staleness(-DAY_S, DAY_S));
	cr_expect_str_eq(staleness(DAY_S, 2 * DAY_S), "the certificate is not valid yet");
	strftime(day, sizeof(day), "the certificate expired on %Y-%m-%d", gmtime(&end));
	cr_expect(strstr(staleness(-2 * DAY_S, -DAY_S), day), "%s", day);
}

/* ── protocols ───────────────────────────────────────────────────────────────────────────────── */

/* Return whether the handshake of a client that offers these protocols succeeds. */
static bool accepts(const unsigned char *protocols, unsigned int size)
{
	struct pair pair = begin("good", "localhost");
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(context);
	bool is_done = false;

	cr_assert(ssl && SSL_set_fd(ssl, pair.fds[0]) == 1);
	cr_assert_eq(SSL_set_alpn_protos(ssl, protocols, size), 0);
	for (int turn = 0; turn < TURNS_MAX && !is_done; turn++) {
		is_done = SSL_connect(ssl) == 1;
		tls_handshake(pair.theirs);
	}
	if (is_done) {
		const unsigned char *chosen;
		unsigned int chosen_size;

		SSL_get0_alpn_selected(ssl, &chosen, &chosen_size);
		cr_expect_eq(chosen_size, strlen("http/1.1"));
		cr_expect_eq(memcmp(chosen, "http/1.1", chosen_size), 0);
	}
	SSL_free(ssl);
	SSL_CTX_free(context);
	end(&pair);
	return is_done;
}

#define OFFER(text) (const unsigned char *)(text), sizeof(text) - 1

Test(tls_session, speaks_http_1_1_and_nothing_else)
{
	cr_expect(accepts(OFFER("\x08http/1.1")));
	cr_expect(accepts(OFFER("\x02h2\x08http/1.1")));
	cr_expect_not(accepts(OFFER("\x02h2")));
	cr_expect_not(accepts(OFFER("\x08http/1.0\x02h2")));
}
