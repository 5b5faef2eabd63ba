/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/turn/turn.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/response.h"
#include "pass.h"
#include "quotes.h"
#include "scarce.h"
#include "scripted.h"
#include "util/log.h"

/* A turn between a scripted model and a tool service played here. JSON is written with ' in place
 * of ". */

#define STEP_MS   5
#define STEPS_MAX 2000
#define TURN_TIME 60000

static struct loop *loop;
static struct asking asking;
static struct config_agent config;
static struct model_settings settings = {.base_url = "http://127.0.0.1:1/v1"};
static struct model *model;
static struct history history;
static struct turn_wishes wishes;
static struct turn *turn;
static bool has_told_away;
static char sent[8192]; /* the last message to the tool service */
static unsigned int n_sent;
static unsigned int n_seen; /* the messages looked at by the test */
static unsigned int n_ends;
static char said[1024];   /* each sentence in [], or [?] with an open microphone */
static char deltas[1024]; /* all */

static int keep_message(void *data, struct buffer *message)
{
	size_t size;
	const char *text = bus_message_text(message, &size);

	(void)data;
	snprintf(sent, sizeof(sent), "%.*s", (int)size, text);
	n_sent++;
	buffer_deinit(message);
	return 0;
}

static void append(char *list, const char *text, size_t size)
{
	size_t n = strlen(list);

	snprintf(list + n, sizeof(said) - n, "%.*s", (int)size, text);
}

static void keep_delta(void *data, const char *text, size_t size)
{
	cr_expect_eq(data, &turn);
	append(deltas, text, size);
}

static void keep_sentence(void *data, const char *sentence, size_t size, bool expects_answer)
{
	cr_expect_eq(data, &turn);
	append(said, expects_answer ? "[?" : "[", 2);
	append(said, sentence, size);
	append(said, "]", 1);
}

static void count_end(void *data)
{
	cr_expect_eq(data, &turn);
	n_ends++;
}

static const struct turn_handler handler = {keep_delta, keep_sentence, count_end};

static void set_up(void)
{
	const char *why;

	log_setup(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	config = (struct config_agent){
		.turn_ms = TURN_TIME, .max_rounds = 8, .tools_max = 8, .result_max_chars = 1000};
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(asking_init(&asking, loop, keep_message, NULL), 0);
	strcpy(asking.key, "key");
	cr_assert_eq(model_new(loop, &settings, &model, &why), 0);
	wishes.speaks = true;
}

static void forget_turn(void)
{
	turn_free(turn);
	turn = NULL;
	history_deinit(&history);
	*sent = *said = *deltas = '\0';
	n_sent = n_seen = n_ends = 0;
	asking.n_requests = 0;
}

static void tear_down(void)
{
	forget_turn();
	turn_wishes_deinit(&wishes);
	asking_deinit(&asking);
	model_free(model);
	loop_free(loop);
}

TestSuite(turn, .timeout = 60, .init = set_up, .fini = tear_down);

/* ── the tool service ────────────────────────────────────────────────────────────────────────── */

/* Run until the turn asks the tool service or ends. */
static void advance(void)
{
	for (int i = 0; i < STEPS_MAX && n_ends == 0 && n_sent == n_seen; i++)
		loop_run(loop, STEP_MS);
}

static void begin(const char *utterance)
{
	const struct turn_parts parts = {loop, &config, &asking, model, &history, &has_told_away};

	buffer_append_string(&wishes.utterance, utterance);
	turn = turn_new(&parts, &wishes, &handler, &turn, 7);
	cr_assert(turn);
	wishes.speaks = true;
	advance();
}

/* Copy what comes after @mark, up to @end ("": all), with ' in place of ". */
static void copy_part(const char *mark, const char *end, char *out, size_t size)
{
	const char *at = strstr(sent, mark);
	const char *stop = at && *end ? strstr(at + strlen(mark), end) : sent + strlen(sent);

	cr_assert(at && stop, "%s", sent);
	at += strlen(mark);
	snprintf(out, size, "%.*s", (int)(stop - at), at);
	for (char *c = out; *c; c++)
		*c = *c == '"' ? '\'' : *c;
}

/* The last message is @topic with the data @data. */
static void expect_sent(const char *topic, const char *data)
{
	char text[sizeof(sent)];

	cr_assert_gt(n_sent, n_seen, "%s", topic);
	n_seen = n_sent;
	copy_part("\"type\": \"", "\"", text, sizeof(text));
	cr_expect_str_eq(text, topic);
	copy_part("\"data\": ", "", text, sizeof(text));
	text[strlen(text) - 1] = '\0'; /* the end of the message */
	cr_expect_str_eq(text, data);
}

static void read_response(struct bus_envelope *envelope, const char *data)
{
	cleanup_free char *json = quoted(data);
	char topic[64];
	char text[4096];

	n_seen = n_sent;
	copy_part("\"type\": \"", "\"", topic, sizeof(topic));
	snprintf(text, sizeof(text),
		"{\"type\":\"%s.response\",\"data\":%s,\"context\":{\"toolbox_agent\":\"key-%u\"}}",
		topic, json, (unsigned int)asking.n_requests);
	cr_assert_eq(bus_envelope_read(envelope, text, strlen(text), 32), 0, "%s", text);
}

/* Answer the last message with @data. */
static void respond(const char *data)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	read_response(&envelope, data);
	asking_take(&asking, &envelope);
	advance();
}

/* Let @ms pass, without an end of the patience with the tool service. */
static void wait_for(uint64_t ms)
{
	loop_timer_disarm(&asking.timer);
	pass(loop, ms);
	loop_run(loop, STEP_MS);
}

/* ── the outcome ─────────────────────────────────────────────────────────────────────────────── */

static void expect_text(struct buffer *text, const char *expected)
{
	cr_assert(buffer_terminate(text));
	for (char *c = text->data; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	cr_expect_str_eq(text->data, expected, "%s", text->data);
}

/* The turn has ended once, with @expected for the asker; durations are 0. */
static void expect_outcome(const char *expected)
{
	static const char mark[] = "\"duration_ms\":";
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer all = {0};
	const char *at;
	const char *next;

	cr_assert_eq(n_ends, 1);
	turn_write(turn, &all);
	cr_assert(buffer_terminate(&all));
	for (at = all.data; (next = strstr(at, mark)); at = next) {
		char *end;

		next += strlen(mark);
		cr_expect_lt(strtoull(next, &end, 10), TURN_TIME);
		buffer_append(&text, at, (size_t)(next - at));
		buffer_append_char(&text, '0');
		next = end;
	}
	buffer_append_string(&text, at);
	expect_text(&text, expected);
}

static void expect_history(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	history_write(&history, &text);
	expect_text(&text, expected);
}

#define FACES                                                                                      \
	"'spoken':{'en':{'done':'That makes {sum}.','failed':'No sum: {error}.',"                  \
	"'wait':'One moment.'}}"
#define ADD   "{'name':'add','toolbox_id':'math','description':'Adds.'," FACES "}"
#define GET   "{'name':'get','toolbox_id':'math'}"
#define TOOLS "{'tools':[" ADD "," GET "]}"
#define MATCH "{'name':'add','toolbox_id':'math','args':{'a':3,'b':4},'complete':true}"
#define BATCH                                                                                      \
	"{'call_id':'agent-key-7','calls':[{'name':'add','toolbox_id':'math',"                     \
	"'call_id':'agent-key-7-0','args':{'a':3,'b':4}}]}"
#define USER "{'role':'user','content':'add'}"

/* ── an utterance taken by a trigger ────────────────────────────────────────────────────────── */

/* Begin a turn, up to the batch of a match. */
static void begin_match(void)
{
	config.matches_first = true;
	begin("add");
	respond(MATCH);
	respond(ADD);
}

Test(turn, asks_first_whether_a_trigger_takes_the_utterance)
{
	config.matches_first = true;
	begin("say \"add\"");
	expect_sent("ovos.tools.match", "{'utterance':'say \\'add\\''}");
	forget_turn();
	buffer_append_string(&wishes.lang, "de-DE");
	buffer_append_string(&wishes.profile, "sums");
	buffer_append_string(&wishes.person, "\"source\":\"me\"");
	begin("add");
	cr_expect(strstr(sent, "{\"source\":\"me\",\"via\""), "%s", sent);
	expect_sent("ovos.tools.match", "{'utterance':'add','lang':'de-DE','profile':'sums'}");
}

Test(turn, lists_the_tools_unless_the_match_is_whole)
{
	static const char *const responses[] = {
		"{'name':'add','toolbox_id':'math','args':{},'complete':false}",
		"{'name':'add','toolbox_id':'math','args':{}}",
		"{'name':'add','toolbox_id':'math','complete':true}",
		"{'name':'add','toolbox_id':'math','args':[],'complete':true}",
		"{'name':'add','args':{},'complete':true}",
		"{'toolbox_id':'math','args':{},'complete':true}",
		"{'name':1,'toolbox_id':'math','args':{},'complete':true}",
		"{'name':'add','toolbox_id':null,'args':{},'complete':true}",
		"{'error':'RuntimeError: Too many','code':'busy'}",
	};

	config.matches_first = true;
	for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
		begin("add");
		respond(responses[i]);
		expect_sent("ovos.tools.list", "{'format':'full'}");
		forget_turn();
	}
}

Test(turn, runs_a_matched_tool_and_speaks_its_face_without_a_model)
{
	config.matches_first = true;
	begin("add");
	respond(MATCH);
	expect_sent("ovos.tools.get", "{'name':'add','toolbox_id':'math'}");
	respond(ADD);
	expect_sent("ovos.tools.invoke", BATCH);
	respond("{'results':[{'name':'add','result':{'sum':7}}]}");
	expect_outcome("{'answer':'That makes 7.','finish':'answer','rounds':0,"
		       "'calls':[{'name':'add','ok':true,'duration_ms':0}],'usage':null,"
		       "'history':2,'truncated':false}");
	expect_history("," USER ",{'role':'assistant','content':'That makes 7.'}");
	cr_expect_str_eq(said, "[That makes 7.]");
}

Test(turn, lists_the_tools_when_the_matched_tool_is_gone)
{
	config.matches_first = true;
	begin("add");
	respond(MATCH);
	respond("{'error':'LookupError: There is none','code':'not_found'}");
	expect_sent("ovos.tools.list", "{'format':'full'}");
}

Test(turn, says_why_a_matched_tool_has_failed)
{
	begin_match();
	respond("{'results':[{'error':'RuntimeError: add in ToolBox \\u0027math\\u0027: "
		"overflow'}]}");
	cr_expect_str_eq(said, "[No sum: overflow.]");
	cr_expect_eq(turn->finish, TURN_ANSWER);
	cr_expect_not(turn->calls.items[0].is_ok);
}

Test(turn, does_not_speak_the_plain_result_of_a_match)
{
	config.matches_first = true;
	begin("add");
	respond("{'name':'get','toolbox_id':'math','args':{},'complete':true}");
	respond(GET);
	respond("{'results':[{'result':{'value':'noon, more or less'}}]}");
	cr_expect_str_eq(said, "");
	expect_outcome("{'answer':'noon, more or less','finish':'answer','rounds':0,"
		       "'calls':[{'name':'get','ok':true,'duration_ms':0}],'usage':null,"
		       "'history':2,'truncated':false}");
}

Test(turn, says_once_that_a_call_takes_a_while)
{
	begin_match();
	wait_for(TURN_WAIT_MS - 100);
	cr_expect_str_eq(said, "");
	wait_for(100);
	cr_expect_str_eq(said, "[One moment.]");
	wait_for(TURN_WAIT_MS);
	respond("{'results':[{'result':{'sum':7}}]}");
	cr_expect_str_eq(said, "[One moment.][That makes 7.]");
}

Test(turn, that_does_not_speak_says_nothing)
{
	wishes.speaks = false;
	begin_match();
	wait_for(TURN_WAIT_MS);
	respond("{'results':[{'result':{'sum':7}}]}");
	cr_expect_str_eq(said, "");
	cr_expect_eq(n_ends, 1);
}

/* ── the end before an answer ────────────────────────────────────────────────────────────────── */

Test(turn, cancels_its_calls_when_it_is_cancelled)
{
	begin_match();
	n_seen = n_sent;
	turn_cancel(turn);
	expect_sent("ovos.tools.cancel", "{'call_id':'agent-key-7'}");
	expect_outcome("{'answer':'Stopped.','finish':'cancelled','rounds':0,"
		       "'calls':[{'name':'add','ok':false,'duration_ms':0}],'usage':null,"
		       "'history':2,'truncated':false}");
	expect_history("," USER ",{'role':'assistant','content':'[interrupted]'}");
	cr_expect_str_eq(said, "");
	turn_cancel(turn);
	turn_lose_bus(turn);
	cr_expect_eq(n_ends, 1);
}

Test(turn, without_calls_has_none_to_cancel)
{
	begin("add");
	n_seen = n_sent;
	turn_cancel(turn);
	cr_expect_eq(n_sent, n_seen);
	expect_history("," USER ",{'role':'assistant','content':'[interrupted]'}");
	cr_expect_not(asked_is_open(&turn->asked));
}

Test(turn, ends_with_its_time)
{
	begin("add");
	wait_for(TURN_TIME - 1000);
	cr_expect_eq(n_ends, 0);
	wait_for(1000);
	expect_outcome("{'answer':'I could not finish this in the time I have.','finish':'limit',"
		       "'rounds':0,'calls':[],'usage':null,'history':2,'truncated':false,"
		       "'reason':'the time of the turn is over'}");
	cr_expect_str_eq(said, "[I could not finish this in the time I have.]");
}

Test(turn, ends_when_the_bus_is_lost)
{
	begin("add");
	turn_lose_bus(turn);
	expect_outcome("{'answer':'Something went wrong while I was thinking.','finish':'error',"
		       "'rounds':0,'calls':[],'usage':null,'history':2,'truncated':false,"
		       "'reason':'the bus was lost'}");
}

/* Begin a turn whose model is away. */
static void begin_away(void)
{
	begin("add");
	respond("{'tools':[]}");
	for (int i = 0; i < STEPS_MAX && n_ends == 0; i++)
		wait_for(MODEL_RETRY_MAX_MS);
	cr_expect(buffer_is(&turn->answer, "I cannot reach my language model right now."));
	cr_expect_eq(turn->finish, TURN_ERROR);
}

Test(turn, says_once_that_the_model_is_away)
{
	config.turn_ms = 100 * TURN_TIME;
	begin_away();
	cr_expect_str_eq(said, "[I cannot reach my language model right now.]");
	cr_expect(has_told_away);
	forget_turn();
	begin_away();
	cr_expect_str_eq(said, "");
}

Test(turn, without_memory_ends_once)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	for (size_t n = 0; scarce_once_after(n); n++) {
		(void)scarce_has_failed();
		begin_match();
		read_response(&envelope, "{'results':[{'result':{'sum':7}}]}");
		(void)scarce_once_after(n);
		asking_take(&asking, &envelope);
		if (scarce_has_failed() && turn->finish == TURN_ERROR)
			cr_expect_str_eq(turn->reason, "Cannot allocate memory");
		else
			cr_expect_eq(turn->finish, TURN_ANSWER);
		cr_expect_eq(n_ends, 1);
		forget_turn();
	}
}

/* ── persons ─────────────────────────────────────────────────────────────────────────────────── */

static struct text_view view(const char *text)
{
	return (struct text_view){text, strlen(text)};
}

Test(turn, has_as_much_time_as_before_after_a_question_to_a_person)
{
	begin_match();
	turn_take_question(turn, TEXT_VIEW("agent-key-7-0"), TEXT_VIEW("q1"));
	turn_take_question(turn, TEXT_VIEW("agent-key-7-0"), TEXT_VIEW("q2"));
	cr_expect(turn_waits_for_person(turn));
	wait_for(10 * TURN_TIME);
	turn_take_decision(turn, TEXT_VIEW("q1"));
	turn_take_decision(turn, TEXT_VIEW("q"));
	turn_take_decision(turn, TEXT_VIEW("q22"));
	turn_take_decision(turn, TEXT_VIEW(""));
	cr_expect(turn_waits_for_person(turn));
	wait_for(10 * TURN_TIME);
	cr_expect_eq(n_ends, 0);
	turn_take_decision(turn, TEXT_VIEW("q2"));
	cr_expect_not(turn_waits_for_person(turn));
	wait_for(TURN_TIME - 10000);
	cr_expect_eq(n_ends, 0);
	wait_for(10000);
	cr_expect_eq(n_ends, 1);
	cr_expect_eq(turn->finish, TURN_LIMIT);
}

Test(turn, waits_for_questions_about_its_own_calls)
{
	static const struct {
		const char *call_id;
		size_t id_size;
		bool waits;
	} rows[] = {
		{"agent-key-7-0", 1, true},
		{"agent-key-7-", 1, true},
		{"agent-key-7", 1, false},
		{"agent-key-70", 1, false},
		{"agent-key-8-0", 1, false},
		{"", 1, false},
		{"agent-key-7-0", TURN_QUESTION_BYTES - 1, true},
		{"agent-key-7-0", TURN_QUESTION_BYTES, false},
	};
	char id[TURN_QUESTION_BYTES + 1] = "";

	memset(id, 'q', TURN_QUESTION_BYTES);
	begin_match();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct text_view question = {id, rows[i].id_size};

		turn_take_question(turn, view(rows[i].call_id), question);
		cr_expect_eq(turn_waits_for_person(turn), rows[i].waits, "%zu", i);
		turn_take_decision(turn, question);
		cr_expect_not(turn_waits_for_person(turn), "%zu", i);
	}
}

Test(turn, waits_while_a_call_asks_the_person)
{
	begin_match();
	turn_set_asking(turn, true);
	cr_expect(turn_waits_for_person(turn));
	wait_for(10 * TURN_TIME);
	cr_expect_eq(n_ends, 0);
	turn_set_asking(turn, false);
	cr_expect_not(turn_waits_for_person(turn));
	wait_for(TURN_TIME);
	cr_expect_eq(n_ends, 1);
}

Test(turn, waits_for_no_person_without_calls)
{
	begin("add");
	turn_set_asking(turn, true);
	turn_take_question(turn, TEXT_VIEW("agent-key-7-0"), TEXT_VIEW("q"));
	cr_expect_not(turn_waits_for_person(turn));
	wait_for(TURN_TIME);
	cr_expect_eq(n_ends, 1);
}

/* ── the model ───────────────────────────────────────────────────────────────────────────────── */

static const char *script[SCRIPT_MAX];

/* Let the model answer with the messages and usages @replies, up to NULL. */
static void begin_script(const char *const *replies)
{
	static char texts[4][2048];
	static char url[64];
	const char *why;

	for (size_t i = 0; replies[i]; i++) {
		snprintf(texts[i], sizeof(texts[i]), SCRIPT_STATUS("200 OK", "", "{'choices':[%s}"),
			replies[i]);
		swap_quotes(texts[i]);
		script[i] = texts[i];
	}
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/v1", script_start(script));
	settings.base_url = url;
	model_free(model);
	cr_assert_eq(model_new(loop, &settings, &model, &why), 0);
}

#define TEXT(text) "{'message':{'content':'" text "'},'finish_reason':'stop'}]"
#define CALL(name, arguments)                                                                      \
	"{'id':'c1','type':'function','function':{'name':'" name "','arguments':'" arguments "'}}"
#define CALLS(calls)                                                                               \
	"{'message':{'content':null,'tool_calls':[" calls "]},'finish_reason':'tool_calls'}]"
#define USAGE(prompt, completion, total)                                                           \
	",'usage':{'prompt_tokens':" #prompt ",'completion_tokens':" #completion                   \
	",'total_tokens':" #total "}"
#define ADD_CALL CALL("add", "{\\'a\\':3,\\'b\\':4}")

/* The body of the request @i begins with @expected. */
static void expect_asked(unsigned int i, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	cr_assert_lt(i, script_n_requests());
	buffer_append(&text, script_body(i), strlen(script_body(i)));
	cr_assert(buffer_terminate(&text));
	for (char *c = text.data; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	cr_expect(
		strncmp(text.data, expected, strlen(expected)) == 0, "%s\n%s", text.data, expected);
}

Test(turn, gives_the_results_of_calls_to_the_model)
{
	begin_script((const char *const[]){CALLS(ADD_CALL) USAGE(10, 2, 12),
		TEXT("Seven it is. Well?") USAGE(20, 3, 23), NULL});
	config.model = "small";
	config.temperature = "0.5";
	config.system = "Be brief.";
	wishes.streams = true;
	config.follows_up = true;
	begin("add");
	respond(TOOLS);
	expect_sent("ovos.tools.invoke", BATCH);
	respond("{'results':[{'result':{'sum':7}}]}");
	expect_outcome("{'answer':'Seven it is. Well?','finish':'answer','rounds':2,"
		       "'calls':[{'name':'add','ok':true,'duration_ms':0}],"
		       "'usage':{'prompt_tokens':30,'completion_tokens':5,'total_tokens':35},"
		       "'history':4,'truncated':false}");
	expect_history("," USER ",{'role':'assistant','content':null,'tool_calls':[" ADD_CALL "]},"
		       "{'role':'tool','content':'{\\'sum\\':7}','tool_call_id':'c1'},"
		       "{'role':'assistant','content':'Seven it is. Well?'}");
	expect_asked(0, "{'model':'small','temperature':0.5,'messages':[{'role':'system',"
			"'content':'Be brief.'}," USER "],'tools':[{'type':'function',"
			"'function':{'name':'add','description':'Adds.','parameters':"
			"{'type':'object','properties':{}}}},{'type':'function'");
	cr_expect(strstr(script_body(0), "],\"tool_choice\":\"auto\""), "%s", script_body(0));
	cr_expect_str_eq(said, "[Seven it is.][?Well?]");
	cr_expect_str_eq(deltas, "Seven it is. Well?");
}

Test(turn, has_the_system_message_of_the_asker_before_the_configured_one)
{
	begin_script((const char *const[]){TEXT("Well."), TEXT("Well."), NULL});
	config.system = "Be brief.";
	buffer_append_string(&wishes.system, "Be long.");
	begin("add");
	respond("{'tools':[]}");
	expect_asked(0, "{'messages':[{'role':'system','content':'Be long.'}," USER "],'stream'");
	forget_turn();
	config.system = NULL;
	begin("add");
	respond("{'tools':[]}");
	expect_asked(1, "{'messages':[{'role':'system','content':'You are the voice assistant of "
			"this device. ");
}

Test(turn, speaks_the_face_of_a_quiet_call_in_place_of_the_model)
{
	begin_script((const char *const[]){CALLS(ADD_CALL), NULL});
	begin("add");
	respond(TOOLS);
	respond("{'results':[{'result':{'sum':7},'run_llm':false}]}");
	expect_outcome("{'answer':'That makes 7.','finish':'answer','rounds':1,"
		       "'calls':[{'name':'add','ok':true,'duration_ms':0}],'usage':null,"
		       "'history':4,'truncated':false}");
	cr_expect_str_eq(said, "[That makes 7.]");
	cr_expect_eq(script_n_requests(), 1);
}

Test(turn, searches_among_many_tools)
{
	begin_script((const char *const[]){
		CALLS(CALL("search_tools", "{\\'query\\':\\'sums\\'}")), TEXT("Well."), NULL});
	config.tools_max = 1;
	begin("add");
	respond(TOOLS);
	expect_sent("ovos.tools.search", "{'limit':8,'query':'add'}");
	respond("{'tools':[" GET "]}");
	expect_sent("ovos.tools.search", "{'limit':8,'query':'sums'}");
	cr_expect_eq(turn->state, TURN_FINDING);
	respond("{'tools':[" ADD "]}");
	expect_outcome("{'answer':'Well.','finish':'answer','rounds':2,"
		       "'calls':[{'name':'search_tools','ok':true,'duration_ms':0}],'usage':null,"
		       "'history':4,'truncated':false}");
	cr_expect(strstr(script_body(0), "\"name\":\"get\""), "%s", script_body(0));
	cr_expect_null(strstr(script_body(0), "\"name\":\"add\""), "%s", script_body(0));
	cr_expect(strstr(script_body(1), "\\\"name\\\":\\\"add\\\""), "%s", script_body(1));
}

Test(turn, offers_as_many_tools_as_it_may_without_a_search)
{
	begin_script((const char *const[]){TEXT("Well."), NULL});
	config.tools_max = 2;
	begin("add");
	respond(TOOLS);
	cr_expect_eq(n_ends, 1);
	cr_expect_eq(n_sent, 1);
}

Test(turn, has_the_last_word_without_tools_after_its_rounds)
{
	begin_script((const char *const[]){CALLS(ADD_CALL), TEXT("Well."), NULL});
	config.max_rounds = 1;
	begin("add");
	respond(TOOLS);
	respond("{'results':[{'result':{'sum':7}}]}");
	expect_outcome("{'answer':'Well.','finish':'limit','rounds':2,"
		       "'calls':[{'name':'add','ok':true,'duration_ms':0}],'usage':null,"
		       "'history':4,'truncated':false}");
	cr_expect(strstr(script_body(0), "\"tools\":["));
	cr_expect_null(strstr(script_body(1), "\"tools\":["));
}

/* A turn of one round with the reply @reply ends so. */
static void expect_end(unsigned int max_rounds, const char *reply, const char *outcome)
{
	begin_script((const char *const[]){reply, NULL});
	config.max_rounds = max_rounds;
	begin("add");
	respond(TOOLS);
	expect_outcome(outcome);
}

Test(turn, without_rounds_is_answered_in_one)
{
	expect_end(0, TEXT("Well."),
		"{'answer':'Well.','finish':'answer','rounds':1,'calls':[],'usage':null,"
		"'history':2,'truncated':false}");
}

Test(turn, ends_with_an_error_when_the_answer_is_empty)
{
	expect_end(8, TEXT(""),
		"{'answer':'Something went wrong while I was thinking.','finish':'error',"
		"'rounds':1,'calls':[],'usage':null,'history':2,'truncated':false,"
		"'reason':'its answer is empty'}");
}

Test(turn, makes_no_call_of_a_cut_answer)
{
	expect_end(8,
		"{'message':{'content':'Well','tool_calls':[" ADD_CALL
		"]},'finish_reason':'length'}]",
		"{'answer':'Well','finish':'answer','rounds':1,'calls':[],'usage':null,"
		"'history':2,'truncated':true}");
}

Test(turn, that_calls_for_ever_ends_at_the_limit)
{
	begin_script((const char *const[]){CALLS(ADD_CALL), CALLS(ADD_CALL), NULL});
	config.max_rounds = 1;
	begin("add");
	respond(TOOLS);
	respond("{'results':[{'error':'RuntimeError: no','code':'x'}]}");
	expect_outcome("{'answer':'I could not finish this in the time I have.','finish':'limit',"
		       "'rounds':2,'calls':[{'name':'add','ok':false,'duration_ms':0}],"
		       "'usage':null,'history':4,'truncated':false,"
		       "'reason':'too many rounds of calls'}");
}

Test(turn, keeps_a_result_for_each_cancelled_call)
{
	begin_script((const char *const[]){CALLS(ADD_CALL), NULL});
	begin("add");
	respond(TOOLS);
	turn_cancel(turn);
	cr_expect_eq(history.n_messages, 4);
	expect_history(
		"," USER ",{'role':'assistant','content':null,'tool_calls':[" ADD_CALL "]},"
		"{'role':'tool','content':'{\\'error\\':\\'RuntimeError: The person interrupted "
		"this call, which may have "
		"run\\',\\'code\\':\\'cancelled\\'}','tool_call_id':'c1'},"
		"{'role':'assistant','content':'[interrupted]'}");
}

Test(turn, without_the_tool_service_asks_the_model_without_tools)
{
	begin_script((const char *const[]){TEXT("Well."), NULL});
	begin("add");
	asking_lose(&asking);
	advance();
	for (int i = 0; i < STEPS_MAX && n_ends == 0; i++)
		loop_run(loop, STEP_MS);
	expect_outcome("{'answer':'Well.','finish':'answer','rounds':1,'calls':[],'usage':null,"
		       "'history':2,'truncated':false}");
	cr_expect_null(strstr(script_body(0), "\"tools\":["));
}

Test(turn, tells_why_the_tools_cannot_be_listed)
{
	begin_script((const char *const[]){TEXT("Well."), NULL});
	begin("add");
	respond("{'error':'RuntimeError: Too many','code':'busy'}");
	expect_outcome("{'answer':'Well.','finish':'answer','rounds':1,'calls':[],'usage':null,"
		       "'history':2,'truncated':false,"
		       "'reason':'the tools cannot be listed: RuntimeError: Too many'}");
}

/* Begin a turn up to a model without an answer, after a call with a question to a person. */
static void begin_second_round(void)
{
	cleanup(bus_envelope_deinit) struct bus_envelope envelope = {0};

	begin_script((const char *const[]){CALLS(ADD_CALL), NULL});
	begin("add");
	respond(TOOLS);
	turn_take_question(turn, TEXT_VIEW("agent-key-7-0"), TEXT_VIEW("q"));
	turn_set_asking(turn, true);
	wait_for(10 * TURN_TIME);
	read_response(&envelope, "{'results':[{'result':{'sum':7}}]}");
	asking_take(&asking, &envelope);
	cr_expect_eq(turn->state, TURN_MODEL);
}

Test(turn, has_its_time_again_after_a_call_with_a_question)
{
	begin_second_round();
	cr_expect_not(turn_waits_for_person(turn));
	turn_set_asking(turn, true);
	cr_expect_not(turn_waits_for_person(turn));
	wait_for(TURN_TIME);
	cr_expect_eq(n_ends, 1);
	cr_expect_eq(turn->finish, TURN_LIMIT);
}

Test(turn, has_no_more_time_for_two_rounds)
{
	begin_script((const char *const[]){CALLS(ADD_CALL), NULL});
	begin("add");
	respond(TOOLS);
	wait_for(TURN_TIME / 2);
	cr_expect(loop_timer_is_armed(&turn->timer));
	turn_take_question(turn, TEXT_VIEW("other"), TEXT_VIEW("q"));
	cr_expect(loop_timer_is_armed(&turn->timer));
	turn_take_decision(turn, TEXT_VIEW("q"));
	wait_for(TURN_TIME / 2);
	cr_expect_eq(n_ends, 1);
}

Test(turn, holds_as_many_questions_as_it_has_room_for)
{
	char id[8];

	begin_match();
	for (int i = 0; i <= TURN_QUESTIONS_MAX; i++) {
		snprintf(id, sizeof(id), "q%d", i);
		turn_take_question(turn, TEXT_VIEW("agent-key-7-0"), view(id));
	}
	for (int i = 0; i < TURN_QUESTIONS_MAX; i++) {
		cr_expect(turn_waits_for_person(turn), "%d", i);
		snprintf(id, sizeof(id), "q%d", i);
		turn_take_decision(turn, view(id));
	}
	cr_expect_not(turn_waits_for_person(turn));
}
