/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/skill.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/new/sentence.h"
#include "ctl/new/tools.h"
#include "ctl/session.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/writer.h"
#include "manifest/manifest.h"
#include "mcp/client/tools/tool_name.h"
#include "message/envelope.h"
#include "util/clock.h"
#include "util/file/file.h"

/*
 * A skill as a toolbox:
 *
 *   a function   ─▶ a tool with the arguments `args` and `kwargs`, whose reply has the result
 *   an intent    ─▶ a tool for each set of slots in its samples, which sends the shortest of these
 *                   samples to OVOS and collects the answer
 *
 * An intent is called by an utterance and not by its topic SKILL:INTENT. The topic leaves out what
 * ovos-core decides on the way: it runs an intent that is disabled, or blacklisted in the caller's
 * session, gives handlers no utterance and no slots that they rely on, and on ovos-core 3 it has no
 * end, since no ovos.utterance.handled follows (docs/ovos.md, Skills as tools).
 */

/* The wait for the skill and for ovos-core: a skill without functions is silent. */
#define ANSWER_MS 2000

/* The most tools of one intent. */
#define VARIANTS_MAX 8

/* The first language that is looked for among the samples. */
#define ENGLISH "en"

enum question { FUNCTIONS, INTENTS, N_QUESTIONS };

struct skill {
	const char *id;
	struct ctl_session *session;
	char topics[N_QUESTIONS][BUS_TOPIC_BYTES]; /* the topics of both answers */
	const char *listened[N_QUESTIONS];
	struct ctl_response answers[N_QUESTIONS];
	bool is_answered[N_QUESTIONS];
	struct buffer manifest;
	size_t n_tools;
};

/* The sample for one set of slots. */
struct variant {
	struct buffer sentence;
	struct buffer slots;
};

static const struct ctl_service ovos_core = {
	.kind = "skill service",
	.program = "ovos-core",
	.alive = "mycroft.skills.is_alive",
	.alive_response = "mycroft.skills.is_alive.response",
};

/* ── questions ───────────────────────────────────────────────────────────────────────────────── */

static void on_answer(void *data, const char *topic, const struct json_tape *event)
{
	struct skill *skill = data;

	for (size_t i = 0; i < N_QUESTIONS; i++)
		if (strcmp(topic, skill->topics[i]) == 0 && ctl_session_is_ours(skill->session))
			skill->is_answered[i] = ctl_response_copy(&skill->answers[i], event) == 0;
	if (skill->is_answered[FUNCTIONS] && skill->is_answered[INTENTS])
		ctl_session_wake(skill->session);
}

/* Wait for both answers. Return 0 or an enum ctl_status. */
static int await_answers(struct skill *skill)
{
	uint64_t end_ms = clock_now_ms() + ANSWER_MS;
	uint64_t now_ms;
	int r = 0;

	while (r == 0 && (now_ms = clock_now_ms()) < end_ms &&
		!(skill->is_answered[FUNCTIONS] && skill->is_answered[INTENTS]))
		r = ctl_session_wait(skill->session, end_ms - now_ms);
	return r;
}

/* Ask the skill and ovos-core. Return 0 or an enum ctl_status after a complaint. */
static int ask_both(struct skill *skill)
{
	cleanup(ctl_response_deinit) struct ctl_response alive = {0};
	cleanup(buffer_deinit) struct buffer which = {0};
	char topic[BUS_TOPIC_BYTES];
	int r;

	json_write_member_text(&which, "skill_id", skill->id);
	snprintf(topic, sizeof(topic), "%s.public_api", skill->id);
	snprintf(skill->topics[FUNCTIONS], sizeof(topic), "%s.public_api.response", skill->id);
	snprintf(skill->topics[INTENTS], sizeof(topic), "ovos.intent.describe.response");
	for (size_t i = 0; i < N_QUESTIONS; i++)
		skill->listened[i] = skill->topics[i];
	ctl_session_set_service(skill->session, &ovos_core);
	ctl_session_listen(skill->session, skill->listened, N_QUESTIONS, on_answer, skill);
	r = ctl_session_ask(skill->session, ovos_core.alive, NULL, &alive);
	if (r != 0)
		return r;
	ctl_session_send(skill->session, topic, NULL);
	ctl_session_send(skill->session, "ovos.intent.describe", &which);
	return await_answers(skill);
}

/* ── tools ───────────────────────────────────────────────────────────────────────────────────── */

/* Return whether a tool of the manifest is called @name. */
static bool has_tool_called(const struct skill *skill, const char *name)
{
	char member[MCP_TOOL_NAME_BYTES + sizeof("{\"name\":\"\",")];
	int size = snprintf(member, sizeof(member), "{\"name\":\"%s\",", name);

	/* No string of the manifest has this text, since quotes in strings are escaped. */
	return memmem(skill->manifest.data, skill->manifest.size, member, (size_t)size);
}

/* Begin a tool called @name, up to the text of its description. A name that an earlier tool has
 * gets a digit. Return false for a name that nine tools have. */
static bool begin_tool(struct skill *skill, const char *name)
{
	char base[MCP_TOOL_NAME_BYTES + 1];
	char mapped[MCP_TOOL_NAME_BYTES + 1];

	mcp_map_tool_name(name, strlen(name), base);
	memcpy(mapped, base, sizeof(mapped));
	for (char digit = '2'; has_tool_called(skill, mapped); digit++) {
		if (digit > '9')
			return false;
		snprintf(mapped, sizeof(mapped), "%.*s_%c", MCP_TOOL_NAME_BYTES - 2, base, digit);
	}
	buffer_append_string(&skill->manifest, skill->n_tools++ > 0 ? ", " : "");
	buffer_append_string(&skill->manifest, "{\"name\":");
	json_write_text(&skill->manifest, mapped);
	buffer_append_string(&skill->manifest, ",\"description\":");
	return true;
}

/* Write the tool of the function @key, whose value has its topic in `type` and its docstring in
 * `help`. */
static void write_function(struct skill *skill, const struct json_tape *tape, uint32_t key)
{
	uint32_t topic = json_find_typed(tape, key + 1, "type", JSON_STRING);
	uint32_t help = json_find_typed(tape, key + 1, "help", JSON_STRING);
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer words = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct buffer *out = &skill->manifest;

	json_string_decode(tape, key, &name);
	json_read_text(tape, help, &text);
	terminal_append_words(&words, buffer_text(&text), text.size);
	if (words.size == 0)
		buffer_printf(&words, "A function of the skill %s.", skill->id);
	if (topic == JSON_NONE || !buffer_terminate(&name) || !begin_tool(skill, name.data))
		return;
	json_write_bytes_lossy(out, buffer_text(&words), words.size);
	buffer_append_string(out, ",\"argument_schema\":{\"type\":\"object\",\"properties\":{"
				  "\"args\":{\"type\":\"array\",\"default\":[],"
				  "\"description\":\"Arguments by position.\"},"
				  "\"kwargs\":{\"type\":\"object\",\"default\":{},"
				  "\"description\":\"Arguments by name.\"}},"
				  "\"additionalProperties\":false},\"bus\":{\"topic\":");
	json_write_compact(out, tape, topic);
	buffer_append_string(out,
		",\"data\":{\"args\":\"{args}\",\"kwargs\":\"{kwargs}\"},\"reply\":true,"
		"\"result\":{\"result\":{\"at\":\"/result\"}}}}");
}

/* Write a property of type string for each word of @slots. */
static void write_slots(const char *slots, struct buffer *out)
{
	buffer_append_string(out, ",\"argument_schema\":{\"type\":\"object\",\"properties\":{");
	for (const char *at = slots; *at; at += strcspn(at, " "), at += *at == ' ')
		buffer_printf(out, "%s\"%.*s\":{\"type\":\"string\",\"minLength\":1}",
			at == slots ? "" : ",", (int)strcspn(at, " "), at);
	buffer_append_string(out, "},\"required\":[");
	for (const char *at = slots; *at; at += strcspn(at, " "), at += *at == ' ')
		buffer_printf(out, "%s\"%.*s\"", at == slots ? "" : ",", (int)strcspn(at, " "), at);
	buffer_append_string(out, "],\"additionalProperties\":false}");
}

/* Write the tool that sends @variant, in the language of @row. */
static void write_variant(struct skill *skill, const struct json_tape *tape, uint32_t row,
	const char *intent, const struct variant *variant)
{
	uint32_t lang = json_find_typed(tape, row, "lang", JSON_STRING);
	cleanup(buffer_deinit) struct buffer name = {0};
	cleanup(buffer_deinit) struct buffer words = {0};
	struct buffer *out = &skill->manifest;

	buffer_printf(
		&name, "%s%s%s", intent, *variant->slots.data ? "_" : "", variant->slots.data);
	buffer_printf(&words,
		"Say to the assistant: \"%s\" (intent %s of the skill %s). The result has what it "
		"answers; the device speaks it, too.",
		variant->sentence.data, intent, skill->id);
	if (!buffer_terminate(&name) || buffer_status(&words) < 0 || !begin_tool(skill, name.data))
		return;
	json_write_bytes_lossy(out, words.data, words.size);
	write_slots(variant->slots.data, out);
	buffer_append_string(out,
		",\"bus\":{\"topic\":\"recognizer_loop:utterance\",\"data\":{\"utterances\":[");
	json_write_text(out, variant->sentence.data);
	buffer_append_string(out, "],\"lang\":");
	json_write_compact(out, tape, lang);
	buffer_append_string(out,
		"},\"reply\":[\"ovos.utterance.handled\",\"complete_intent_failure\","
		"\"ovos.intent.unmatched\"],\"collect\":{\"topics\":[\"speak\","
		"\"ovos.utterance.speak\"],\"at\":\"/utterance\"},\"result\":{\"answers\":{\"at\":"
		"\"/collected\"},\"ended_by\":{\"at\":\"/topic\"}}}}");
}

/* Keep the sample at @token in the variant of its slots, unless a shorter one is there. */
static void keep_sample(const struct json_tape *tape, uint32_t token,
	struct variant variants[VARIANTS_MAX], size_t *n_variants)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct variant found = {0};
	size_t i = 0;

	json_string_decode(tape, token, &text);
	if (!text.data || !new_read_sample(text.data, text.size, &found.sentence, &found.slots) ||
		!buffer_terminate(&found.sentence) || !buffer_terminate(&found.slots))
		goto drop;
	while (i < *n_variants && strcmp(variants[i].slots.data, found.slots.data) != 0)
		i++;
	if (i == VARIANTS_MAX ||
		(i < *n_variants && variants[i].sentence.size <= found.sentence.size))
		goto drop;
	*n_variants += i == *n_variants;
	buffer_deinit(&variants[i].sentence);
	buffer_deinit(&variants[i].slots);
	variants[i] = found;
	return;
drop:
	buffer_deinit(&found.sentence);
	buffer_deinit(&found.slots);
}

/* Write the tools of the intent at @row, one of `definitions`, by its samples. */
static void write_intent(struct skill *skill, const struct json_tape *tape, uint32_t row)
{
	uint32_t definition = json_find_typed(tape, row, "definition", JSON_OBJECT);
	uint32_t samples = json_find_typed(tape, definition, "samples", JSON_ARRAY);
	uint32_t name = json_find_typed(tape, row, "intent_name", JSON_STRING);
	cleanup(buffer_deinit) struct buffer intent = {0};
	struct variant variants[VARIANTS_MAX] = {0};
	size_t n_variants = 0;

	if (samples == JSON_NONE || !json_read_text(tape, name, &intent) ||
		!buffer_terminate(&intent))
		return;
	json_each(i, tape, samples)
		if (json_type_at(tape, i) == JSON_STRING)
			keep_sample(tape, i, variants, &n_variants);
	for (size_t i = 0; i < n_variants; i++)
		write_variant(skill, tape, row, intent.data, &variants[i]);
	for (size_t i = 0; i < n_variants; i++) {
		buffer_deinit(&variants[i].sentence);
		buffer_deinit(&variants[i].slots);
	}
}

/* ── the manifest ────────────────────────────────────────────────────────────────────────────── */

/* Return the index of the language of the samples: English, else the first. */
static uint32_t choose_lang(const struct json_tape *tape, uint32_t definitions)
{
	uint32_t chosen = JSON_NONE;

	json_each(i, tape, definitions) {
		uint32_t lang = json_find_typed(tape, i, "lang", JSON_STRING);
		cleanup(buffer_deinit) struct buffer tag = {0};

		if (lang == JSON_NONE)
			continue;
		json_string_decode(tape, lang, &tag);
		if (buffer_terminate(&tag) && strncasecmp(tag.data, ENGLISH, strlen(ENGLISH)) == 0)
			return lang;
		chosen = chosen == JSON_NONE ? lang : chosen;
	}
	return chosen;
}

static void write_intents(struct skill *skill)
{
	const struct json_tape *tape = &skill->answers[INTENTS].tape;
	uint32_t definitions = JSON_NONE;
	uint32_t chosen;

	if (skill->is_answered[INTENTS])
		definitions = json_find_typed_at(tape, 0, "definitions", JSON_ARRAY);
	if (definitions == JSON_NONE)
		return;
	chosen = choose_lang(tape, definitions);
	json_each(i, tape, definitions) {
		uint32_t lang = json_find_typed(tape, i, "lang", JSON_STRING);

		if (lang != JSON_NONE && json_strings_equal(tape, lang, tape, chosen))
			write_intent(skill, tape, i);
	}
}

static void compose_manifest(struct skill *skill)
{
	struct buffer *out = &skill->manifest;

	buffer_append_string(out, "{\"kind\":\"bus\",\"risk\":\"execute\",\"tools\":[");
	if (skill->is_answered[FUNCTIONS])
		json_each_key(key, &skill->answers[FUNCTIONS].tape, 0)
			write_function(skill, &skill->answers[FUNCTIONS].tape, key);
	write_intents(skill);
	buffer_append_string(out, "]}");
}

/* Write the manifest, for people, to @path. Return 0 or a negative errno. */
static int save(const struct skill *skill, const char *path)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int r = buffer_status(&skill->manifest);

	if (r == 0)
		r = json_tape_read(&tape, skill->manifest.data, skill->manifest.size,
			CTL_RESPONSE_DEPTH_MAX, NULL);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	json_write_indented(&text, &tape, 0, 2);
	buffer_append_char(&text, '\n');
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
		slash ? (slash == path ? "/" : path) : ".");
	r = buffer_status(&text);
	return r ? r
		 : file_replace(*folder ? folder : "/", slash ? slash + 1 : path, text.data,
			   text.size, 0644);
}

/* ── the command ─────────────────────────────────────────────────────────────────────────────── */

/* Write the file that is written without --out: the id, with '_' for what no toolbox id has. */
static void default_path(const char *id, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s.json", id);
	for (char *at = ret_path; at + strlen(".json") < ret_path + strlen(ret_path); at++)
		if (!isalnum((unsigned char)*at) && *at != '-')
			*at = '_';
}

static int check_skill_id(const char *id)
{
	size_t size = strlen(id);
	bool is_good = size > 0 && size <= TOOLBOX_ID_BYTES;

	for (size_t i = 0; i < size; i++)
		is_good = is_good && (isalnum((unsigned char)id[i]) || strchr("._-", id[i]));
	if (is_good)
		return 0;
	terminal_complain("--from-skill must be the id of a skill, up to %d letters, digits, '.', "
			  "'_' or '-', as ovos-skill-count.openvoiceos, not '%s'",
		TOOLBOX_ID_BYTES, id);
	return CTL_USAGE;
}

static int check_usage(const struct ctl_options *options, const char *path)
{
	int r = check_skill_id(options->skill);

	if (r != 0)
		return r;
	if (options->n_positional > 1 || options->kind) {
		terminal_complain("--from-skill needs no ID and no --kind: the file is named by "
				  "--out, else by the skill");
		return CTL_USAGE;
	}
	if (strlen(path) < strlen(".json") ||
		strcmp(path + strlen(path) - strlen(".json"), ".json") != 0) {
		terminal_complain("--out must be a file whose name ends in .json, not '%s'", path);
		return CTL_USAGE;
	}
	if (access(path, F_OK) == 0) {
		terminal_complain("'%s' is there already: choose another one by --out", path);
		return CTL_USAGE;
	}
	return 0;
}

/* Read the manifest at @path like any other. Return the package, or NULL after a complaint. */
static struct package *read_manifest(const char *path)
{
	cleanup(manifest_reader_cleanup) struct manifest_reader *reader = manifest_reader_new(NULL);
	cleanup(buffer_deinit) struct buffer why = {0};
	struct diagnostics problems = {0};
	struct package *package = NULL;

	if (!reader || manifest_read(reader, path, &package, &problems) != 0) {
		diagnostics_write_first(&problems, path, &why);
		terminal_complain(
			"%s", why.size > 0 && buffer_terminate(&why) ? why.data : strerror(ENOMEM));
	}
	diagnostics_deinit(&problems);
	return package;
}

static void print_next(const char *path, const struct toolbox *toolbox)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	new_print_tools(toolbox);
	buffer_printf(&out,
		"\n%s has the risk execute for each tool: a person is asked about each call. "
		"Write\n"
		"another risk where you know better, leave out what no model should call, and keep "
		"it:\n\n"
		"  mkdir -p ~/.local/share/toolboxd/toolbox.d\n"
		"  cp %s ~/.local/share/toolboxd/toolbox.d/\n",
		path, path);
	terminal_print(&out);
}

/* Write the manifest to @path, and report it. */
static int keep_manifest(struct skill *skill, const struct ctl_options *options, const char *path)
{
	cleanup(package_cleanup) struct package *package = NULL;
	int r;

	compose_manifest(skill);
	if (skill->n_tools == 0) {
		terminal_complain(
			"the skill '%s' tells of no tools: it does not answer %s.public_api, "
			"so it has no functions for others, and ovos-core knows no samples of its "
			"intents%s. Is it loaded, and is its id right?",
			skill->id, skill->id,
			skill->is_answered[INTENTS] ? "" : " (ovos-core 3 would)");
		return CTL_ERROR;
	}
	r = save(skill, path);
	if (r < 0) {
		terminal_complain("'%s' cannot be written: %s", path, strerror(-r));
		return CTL_ERROR;
	}
	package = read_manifest(path);
	if (!package) {
		unlink(path);
		return CTL_ERROR;
	}
	if (options->json) {
		buffer_append_char(&skill->manifest, '\n');
		terminal_print_json_text(&skill->manifest);
	} else {
		print_next(path, package->toolboxes[0]);
	}
	return CTL_DONE;
}

int new_skill(const struct ctl_options *options)
{
	struct skill skill = {.id = options->skill};
	char standard[TOOLBOX_ID_BYTES + sizeof(".json")];
	const char *path = options->out;
	int r;

	default_path(options->skill, standard, sizeof(standard));
	path = path ? path : standard;
	r = check_usage(options, path);
	if (r == 0)
		r = ctl_session_open(options, &skill.session);
	if (r == 0 && ctl_session_is_http(skill.session)) {
		terminal_complain("--from-skill asks on the bus, not over HTTP");
		r = CTL_USAGE;
	}
	if (r == 0)
		r = ask_both(&skill);
	if (r == 0)
		r = keep_manifest(&skill, options, path);
	ctl_session_close(skill.session);
	for (size_t i = 0; i < N_QUESTIONS; i++)
		ctl_response_deinit(&skill.answers[i]);
	buffer_deinit(&skill.manifest);
	return r;
}
