/* SPDX-License-Identifier: Apache-2.0 */
#include "web/transfers.h"

#include <criterion/criterion.h>

/* Transfers of libcurl on a loop. Their users, ctl and agent, test the content. */

static struct loop *loop;
static CURLcode result;
static unsigned int n_ends;

static void take_end(void *transfer, CURLcode code)
{
	cr_expect_eq(transfer, &result);
	result = code;
	n_ends++;
	loop_stop(loop);
}

Test(transfers, report_the_end_of_each, .timeout = 60)
{
	const char *reason;
	const struct library *curl = library_load(&reason);
	struct transfers transfers = {0};
	CURL *easy;

	cr_assert(curl);
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert(transfers_init(&transfers, curl, loop, take_end));
	easy = curl->easy_init();
	curl->easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
	curl->easy_setopt(easy, CURLOPT_PROXY, "");
	curl->easy_setopt(easy, CURLOPT_PRIVATE, &result);
	transfers_set_certificates(&transfers, easy);
	cr_assert_eq(curl->multi_add_handle(transfers.multi, easy), CURLM_OK);
	loop_run(loop, 30000);
	cr_expect_eq(n_ends, 1);
	cr_expect_eq(result, CURLE_COULDNT_CONNECT);
	curl->multi_remove_handle(transfers.multi, easy);
	curl->easy_cleanup(easy);
	transfers_deinit(&transfers);
	loop_free(loop);
}

Test(transfers, are_freed_before_they_are_made)
{
	struct transfers transfers = {0};

	transfers_deinit(&transfers);
	cr_expect_null(transfers.multi);
}
