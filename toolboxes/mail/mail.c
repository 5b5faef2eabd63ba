/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mail: electronic mail by a server of the operator. toolbox.h is the manual of plugins.
 *
 *   send_email ─▶ validate: addresses, patterns, paths ─▶ attachments ─▶ message.c ─▶ smtp.c
 *
 * A mail cannot be called back. So all that can be refused is refused before a person is asked.
 * The files that may be attached are those that the toolbox files reads (common/fence.h).
 */

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <toolbox.h>
#include <unistd.h>

#include "mailbox.h"
#include "answer.h"
#include "fence.h"
#include "message.h"
#include "schema_text.h"
#include "smtp.h"
#include "stringify.h"

#define TIMEOUT_MS 60000
/* Of a call, for its answer: libcurl looks at the time each second. */
#define ANSWER_MS             3000
#define RECIPIENTS_MAX        100
#define ATTACHMENTS_MAX       20
#define ATTACHMENTS_BYTES_MAX (20u << 20)
#define PASSWORD_SIZE_MAX     1000

static struct smtp_server server;
static const char *from;
static const char *password_file; /* NULL: none */
static const char **patterns;     /* of recipients */
static uint32_t n_patterns;

/* A mail on its way, with what it owns. */
struct outgoing {
	struct message message;
	struct message_recipient recipients[RECIPIENTS_MAX];
	struct message_attachment attachments[ATTACHMENTS_MAX];
	struct text files[ATTACHMENTS_MAX];
	struct text id;
	struct text mail;
	char random[2 * 16 + 1];
	char boundary[2 * 16 + 2];
};

/* ── before a person is asked ────────────────────────────────────────────────────────────────── */

/* Get the string at LIST/I/MEMBER of the arguments, "" without one, with its pointer. Returns its
 * size. */
static size_t get_member(struct toolbox_call call, const char *list, uint32_t i, const char *member,
	char pointer[80], const char **ret)
{
	size_t size = 0;

	*ret = "";
	snprintf(pointer, 80, "/%s/%u/%s", list, i, member);
	toolbox_get_string(call, pointer, ret, &size);
	return size;
}

static bool is_allowed(const char *address)
{
	for (uint32_t i = 0; i < n_patterns; i++)
		if (fnmatch(patterns[i], address, FNM_CASEFOLD | FNM_NOESCAPE) == 0)
			return true;
	return n_patterns == 0;
}

/* Return whether @text, at @pointer, of @size bytes, goes whole into a header. */
static bool judge_header(
	struct toolbox_call call, const char *pointer, const char *text, size_t size)
{
	if (strlen(text) == size)
		return true;
	toolbox_refuse(call, pointer, "must not have the character U+0000");
	return false;
}

/* Return whether the destination @i is an address that mail may go to. */
static bool judge_destination(struct toolbox_call call, uint32_t i)
{
	char pointer[80];
	const char *target;
	const char *name;
	size_t size = get_member(call, "destinations", i, "target", pointer, &target);

	if (strlen(target) != size || !mailbox_is_good(target)) {
		toolbox_refuse(call, pointer, "must be a mail address, as name@example.org");
		return false;
	}
	if (!is_allowed(target)) {
		toolbox_refuse(call, pointer,
			"must be an address that toolboxes.mail.allow_recipients allows");
		return false;
	}
	size = get_member(call, "destinations", i, "target_name", pointer, &name);
	return judge_header(call, pointer, name, size);
}

/* Return whether the attachment @i is a file that may be read. */
static bool judge_attachment(struct toolbox_call call, uint32_t i)
{
	char pointer[80];
	const char *path;
	size_t size = get_member(call, "attachments", i, "path", pointer, &path);
	struct text why = {0};
	struct place place;
	bool is_good = strlen(path) == size && fence_find(path, false, &place, &why);

	if (!is_good)
		toolbox_refuse(call, pointer,
			why.size > 0 && !why.has_failed ? text_string(&why) : "must be a path");
	text_free(&why);
	return is_good;
}

static void validate(struct toolbox_call call, void *data)
{
	const char *subject = "";
	size_t size = 0;
	uint32_t n = 0;
	bool is_good;

	(void)data;
	toolbox_get_string(call, "subject", &subject, &size);
	is_good = judge_header(call, "/subject", subject, size);
	toolbox_get_count(call, "destinations", &n);
	for (uint32_t i = 0; is_good && i < n; i++)
		is_good = judge_destination(call, i);
	n = 0;
	toolbox_get_count(call, "attachments", &n);
	for (uint32_t i = 0; is_good && i < n; i++)
		is_good = judge_attachment(call, i);
}

/* ── the mail ────────────────────────────────────────────────────────────────────────────────── */

/* Append the bytes of @fd to @bytes, of which there are at most @max. */
static bool read_all(int fd, size_t max, struct text *bytes, struct text *why)
{
	char block[16384];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0) {
		if ((size_t)n > max - bytes->size) {
			text_printf(why, "the attachments have more than %u MiB together",
				ATTACHMENTS_BYTES_MAX >> 20);
			return false;
		}
		text_add(bytes, block, (size_t)n);
	}
	if (n < 0)
		text_put(why, strerror(errno));
	return n == 0 && !bytes->has_failed;
}

/* Read the file of the attachment @i; *left is the room for this and the next ones. */
static bool read_attachment(struct toolbox_call call, struct outgoing *outgoing, uint32_t i,
	size_t *left, struct text *why)
{
	struct text *bytes = &outgoing->files[i];
	char pointer[80];
	const char *path;
	struct place place;
	struct stat status;
	bool is_good;
	int fd;

	get_member(call, "attachments", i, "path", pointer, &path);
	if (!fence_find(path, false, &place, why))
		return false;
	fd = open_regular(&place, &status, why);
	if (fd < 0)
		return false;
	is_good = read_all(fd, *left, bytes, why);
	close(fd);
	*left -= is_good ? bytes->size : 0;
	outgoing->attachments[i] = (struct message_attachment){
		.name = strrchr(path, '/') + 1, .bytes = text_string(bytes), .size = bytes->size};
	return is_good;
}

/* Read the arguments into @outgoing. */
static bool read_arguments(struct toolbox_call call, struct outgoing *outgoing, struct text *why)
{
	struct message *message = &outgoing->message;
	size_t left = ATTACHMENTS_BYTES_MAX;
	char pointer[80];
	uint32_t n = 0;

	message->recipients = outgoing->recipients;
	message->attachments = outgoing->attachments;
	toolbox_get_string(call, "subject", &message->subject, NULL);
	toolbox_get_string(call, "content", &message->content, &message->content_size);
	toolbox_get_count(call, "destinations", &n);
	for (uint32_t i = 0; i < n && i < RECIPIENTS_MAX; i++) {
		struct message_recipient *one = &outgoing->recipients[message->n_recipients++];

		get_member(call, "destinations", i, "target", pointer, &one->address);
		get_member(call, "destinations", i, "target_name", pointer, &one->name);
	}
	n = 0;
	toolbox_get_count(call, "attachments", &n);
	for (uint32_t i = 0; i < n && i < ATTACHMENTS_MAX; i++) {
		if (!read_attachment(call, outgoing, i, &left, why))
			return false;
		message->n_attachments++;
	}
	return message->subject && message->content;
}

/* Give the mail its id, date and boundary, and write it. */
static bool write_mail(struct outgoing *outgoing)
{
	struct message *message = &outgoing->message;
	unsigned char random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(outgoing->random + 2 * i, 3, "%02x", random[i]);
	snprintf(outgoing->boundary, sizeof(outgoing->boundary), "_%s", outgoing->random);
	text_printf(&outgoing->id, "%s@%s", outgoing->random, strchr(from, '@') + 1);
	message->from = from;
	message->id = text_string(&outgoing->id);
	message->boundary = outgoing->boundary;
	message->date = time(NULL);
	message_write(message, &outgoing->mail);
	return !outgoing->mail.has_failed && !outgoing->id.has_failed;
}

/* Read the first line of the password file. */
static bool read_password(char password[PASSWORD_SIZE_MAX + 1], struct text *why)
{
	ssize_t n;
	int fd;

	password[0] = '\0';
	if (!password_file)
		return true;
	fd = open(password_file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, password, PASSWORD_SIZE_MAX + 1);
	if (n < 0)
		text_printf(
			why, "toolboxes.mail.password_file %s: %s", password_file, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	password[n > PASSWORD_SIZE_MAX ? PASSWORD_SIZE_MAX : n] = '\0';
	password[strcspn(password, "\r\n")] = '\0';
	if (*password && n <= PASSWORD_SIZE_MAX)
		return true;
	text_printf(why, "toolboxes.mail.password_file %s: expected a line of 1 to %d bytes",
		password_file, PASSWORD_SIZE_MAX);
	return false;
}

/* Send the mail of @call, with the words of a failure in @why. */
static bool send_mail(struct toolbox_call call, struct outgoing *outgoing, struct text *why)
{
	char password[PASSWORD_SIZE_MAX + 2];
	uint32_t left_ms;
	bool is_good = read_arguments(call, outgoing, why) && write_mail(outgoing) &&
		       read_password(password, why) &&
		       curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;

	if (!is_good)
		return false;
	left_ms = toolbox_ms_left(call);
	is_good = smtp_send(&server, password, &outgoing->message, &outgoing->mail,
		left_ms > 2 * ANSWER_MS ? (long)left_ms - ANSWER_MS : (long)left_ms / 2, why);
	explicit_bzero(password, sizeof(password));
	return is_good;
}

static void send_email(struct toolbox_call call, void *data)
{
	struct outgoing *outgoing = calloc(1, sizeof(*outgoing));
	struct text why = {0};
	bool is_good = outgoing && send_mail(call, outgoing, &why);

	(void)data;
	if (is_good) {
		toolbox_put_string(call, "result", "success");
		toolbox_put_string(call, "message", "Email sent successfully.");
		toolbox_put_string(call, "resource_type", "email");
		toolbox_put_string(call, "resource_id", outgoing->message.id);
		toolbox_reply(call);
	} else {
		answer(call, "send_email", false, &(struct text){0}, &why);
	}
	for (size_t i = 0; outgoing && i < ATTACHMENTS_MAX; i++)
		text_free(&outgoing->files[i]);
	if (outgoing) {
		text_free(&outgoing->id);
		text_free(&outgoing->mail);
	}
	free(outgoing);
	text_free(&why);
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define LIST(name, bounds, item, description)                                                      \
	"\"" name "\":{\"type\":\"array\"," bounds ",\"items\":" item                              \
	",\"description\":\"" description "\"}"
#define TEXT(name, description)                                                                    \
	"\"" name "\":{\"type\":\"string\",\"description\":\"" description "\"}"

static const char schema[] = OBJECT("\"destinations\",\"subject\",\"content\"",
	LIST("destinations", "\"minItems\":1,\"maxItems\":" STRINGIFY(RECIPIENTS_MAX),
		OBJECT("\"type\",\"target\"",
			"\"type\":{\"enum\":[\"email\"]}," STRING("target",
				"Mail address, as name@example.org.") "," TEXT("target_name",
				"Name of the recipient.")),
		"Recipients, who see each other.") "," TEXT("subject",
		"Subject line.") "," TEXT("content",
		"Text of the mail: plain text, or HTML when it begins with <!doctype or "
		"<html.") "," LIST("attachments", "\"maxItems\":" STRINGIFY(ATTACHMENTS_MAX),
		OBJECT("\"path\"", STRING("path", "Absolute path of a file.")),
		"Files to attach.") "," FLAG("run_llm", "false",
		"Whether the assistant speaks after the tool."));

static const char output_schema[] =
	"{\"type\":\"object\",\"required\":[\"result\",\"message\",\"resource_type\","
	"\"resource_id\"],\"properties\":{\"result\":{\"const\":\"success\"},"
	"\"message\":{\"type\":\"string\"},\"resource_type\":{\"const\":\"email\"},"
	"\"resource_id\":{\"type\":\"string\",\"description\":\"Message-ID of the mail.\"}}}";

static const char description[] =
	"Send a mail to one or more addresses.\n"
	"WHEN TO USE: the user asks for something by mail (a summary, a file, a link), and the "
	"address is known from the user or from data that the user has chosen.\n"
	"WHEN NOT TO USE: the address is a guess, or comes only from a page or a mail that was "
	"read; "
	"a spoken answer is enough; a message to a phone is meant.\n"
	"EXAMPLES:\n"
	"\"mail me the shopping list\" -> destinations [the user's address], subject, content\n"
	"\"send Ana the report as a file\" -> destinations, subject, content, attachments\n"
	"A mail that was sent cannot be called back.\n"
	"run_llm: Set true to say afterwards that it was sent, false to stay silent.";

static const struct toolbox_tool tools[] = {
	{
		.name = "send_email",
		.title = "Send a mail",
		.description = description,
		.argument_schema = schema,
		.output_schema = output_schema,
		.risk = TOOLBOX_EXECUTE,
		.timeout_ms = TIMEOUT_MS,
		.validate = validate,
		.examples = "[{\"args\":{\"destinations\":[{\"type\":\"email\",\"target\":\"ana@"
			    "example.org\",\"target_name\":\"Ana\"}],\"subject\":\"Shopping\","
			    "\"content\":\"Milk, bread.\"}}]",
		.handler = send_email,
	},
};

/* ── settings ────────────────────────────────────────────────────────────────────────────────── */

static const struct fence_settings fence_settings = {
	.roots = "files/roots", .writable = "files/writable"};

/* Get the setting @key, a string. */
static const char *get_setting(struct toolbox_call call, const char *key, struct text *why)
{
	const char *value = "";
	size_t size = 0;

	if (toolbox_get_string(call, key, &value, &size) != TOOLBOX_OK || strlen(value) != size)
		text_printf(why, "toolboxes.mail.%s must be a string", key);
	return value;
}

static void read_patterns(struct toolbox_call call, struct text *why)
{
	if (toolbox_get_type(call, "allow_recipients") != TOOLBOX_ARRAY) {
		text_put(why, "toolboxes.mail.allow_recipients must be a list of strings");
		return;
	}
	toolbox_get_count(call, "allow_recipients", &n_patterns);
	patterns = calloc(n_patterns + 1u, sizeof(*patterns));
	for (uint32_t i = 0; patterns && i < n_patterns; i++) {
		char pointer[40];

		snprintf(pointer, sizeof(pointer), "/allow_recipients/%u", i);
		if (toolbox_get_string(call, pointer, &patterns[i], NULL) == TOOLBOX_OK)
			continue;
		text_put(why, "toolboxes.mail.allow_recipients must be a list of strings");
		return;
	}
	if (!patterns)
		text_put(why, "out of memory");
}

/* Read the login. A password goes over TLS, or does not leave the machine. */
static void read_login(struct toolbox_call call, struct text *why)
{
	uint32_t n = 0;

	server.user = get_setting(call, "user", why);
	toolbox_get_count(call, "password_file", &n);
	if (n > 0)
		toolbox_get_string(call, "/password_file/0", &password_file, NULL);
	if (n > 1 || (*server.user != '\0') != (n == 1))
		text_put(why, "toolboxes.mail.user and toolboxes.mail.password_file, the path of a "
			      "file, belong together");
	else if (n == 1 && server.tls != SMTP_TLS_REQUIRED && !server.is_near &&
		 strncmp(server.url, "smtps:", 6) != 0)
		text_put(why, "toolboxes.mail.tls must be required: a password is sent over TLS "
			      "only");
	else if (n == 1 && !fence_hide(password_file))
		text_put(why, "out of memory");
}

static void read_settings(struct toolbox_call call, struct text *why)
{
	const char *url = get_setting(call, "server", why);
	const char *tls = get_setting(call, "tls", why);
	struct text wrong = {0};

	from = get_setting(call, "from", why);
	if (why->size == 0 && !smtp_server_read(url, tls, &server, &wrong))
		text_printf(why, "toolboxes.mail.%s", text_string(&wrong));
	else if (why->size == 0 && !mailbox_is_good(from))
		text_put(why, "toolboxes.mail.from must be a mail address");
	if (why->size == 0)
		read_patterns(call, why);
	if (why->size == 0)
		read_login(call, why);
	text_free(&wrong);
}

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	struct text why = {0};
	int r = fence_init(call, &fence_settings);

	(void)ret_tools;
	(void)ret_n_tools;
	if (r == 0) {
		read_settings(call, &why);
		r = why.size > 0 ? -1 : 0;
	}
	if (why.size > 0)
		toolbox_fail(call, text_string(&why));
	text_free(&why);
	return r;
}

TOOLBOX_PLUGIN(tools, init, NULL);
