/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/response.h"
#include "ctl/session.h"
#include "ctl/terminal.h"

/* The command for an utterance: print the words for the person. */

/* Print the words; without words, the result. */
static void print_speech(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t words = ctl_response_find(response, 0, "speech", JSON_STRING);

	if (words == JSON_NONE)
		words = ctl_response_find(response, 0, "result", JSON_OBJECT);
	if (words == JSON_NONE)
		return;
	terminal_append_value(&line, &response->tape, words);
	terminal_print_line(&line);
}

int ctl_say(const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	int r;

	ctl_request_words(&data, "utterance", options);
	ctl_request_member(&data, "lang", options->lang);
	r = ctl_session_ask_once(options, "ovos.tools.utterance", &data, &response);
	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, print_speech);
	if (r != CTL_DONE || ctl_response_find(&response, 0, "matched", JSON_TRUE) != JSON_NONE)
		return r;
	if (!options->json)
		terminal_complain("no tool takes it: see toolboxctl match");
	return CTL_ERROR;
}
