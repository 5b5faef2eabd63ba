/* SPDX-License-Identifier: Apache-2.0 */
#include "core/proxy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"

/* Hosts are only compared here, never asked: any two addresses will do. */
static char hosts[12];
#define HOST(index) ((struct host *)(void *)&hosts[index])

static struct proxy proxy;

/* There is no bus: what should not be sent would not survive it. */
static void say(size_t host, const char *text)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	proxy_on_bus_message(&proxy, NULL, HOST(host), "box", &tape, text, strlen(text));
}

static bool wants(const char *topic)
{
	return proxy_wants(&proxy, topic, strlen(topic));
}

static void tear_down(void)
{
	proxy_deinit(&proxy);
}

TestSuite(proxy, .fini = tear_down);

Test(proxy, wants_what_a_host_has_subscribed_to)
{
	cr_expect_not(wants("speak"));
	say(0, "{\"subscribe\":\"speak\",\"wanted\":true}");
	cr_expect(wants("speak"));
	cr_expect_not(wants("spea"));
	cr_expect_not(wants("speak.now"));
	cr_expect_not(wants(""));
	say(0, "{\"subscribe\":\"speak\",\"wanted\":false}");
	cr_expect_not(wants("speak"));
}

Test(proxy, keeps_one_subscription_of_a_host_for_a_topic)
{
	say(0, "{\"subscribe\":\"speak\",\"wanted\":true}");
	say(0, "{\"subscribe\":\"speak\",\"wanted\":true}");
	say(1, "{\"subscribe\":\"speak\",\"wanted\":true}");
	cr_expect_eq(proxy.n_subscriptions, 2);
	say(0, "{\"subscribe\":\"speak\",\"wanted\":false}");
	cr_expect(wants("speak"));
	say(1, "{\"subscribe\":\"speak\",\"wanted\":false}");
	cr_expect_not(wants("speak"));
}

Test(proxy, forgets_a_host_that_is_gone)
{
	say(0, "{\"subscribe\":\"a\",\"wanted\":true}");
	say(1, "{\"subscribe\":\"a\",\"wanted\":true}");
	say(1, "{\"subscribe\":\"b\",\"wanted\":true}");
	proxy_forget(&proxy, HOST(1));
	cr_expect_eq(proxy.n_subscriptions, 1);
	cr_expect(wants("a"));
	cr_expect_not(wants("b"));
}

/* Ask for one subscription more than all hosts together may have. */
static void subscribe_to_all(size_t host)
{
	for (int i = 0; i < PROXY_SUBSCRIPTIONS_MAX + 1; i++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"subscribe\":\"topic %d\",\"wanted\":true}", i);
		say(host, text);
	}
}

Test(proxy, bounds_subscriptions_and_topics)
{
	char text[PROXY_TOPIC_BYTES + 64];

	snprintf(text, sizeof(text), "{\"subscribe\":\"%0*d\",\"wanted\":true}",
		PROXY_TOPIC_BYTES + 1, 7);
	say(0, text);
	say(0, "{\"subscribe\":\"\",\"wanted\":true}");
	cr_expect_eq(proxy.n_subscriptions, 0);
	subscribe_to_all(0);
	cr_expect_eq(
		proxy.n_subscriptions, PROXY_SUBSCRIPTIONS_MAX / 2, "one host leaves others some");
	subscribe_to_all(1);
	cr_expect_eq(proxy.n_subscriptions, PROXY_SUBSCRIPTIONS_MAX / 4 * 3);
	for (size_t host = 2; host < sizeof(hosts); host++)
		subscribe_to_all(host);
	cr_expect_eq(proxy.n_subscriptions, PROXY_SUBSCRIPTIONS_MAX);
}

Test(proxy, drops_what_is_no_message)
{
	static const char *const texts[] = {
		"{}",
		"{\"type\":7}",
		"{\"type\":\"\"}",
		"{\"type\":\"a\",\"data\":[]}",
		"{\"type\":\"a\",\"context\":\"b\"}",
		"{\"type\":\"a\",\"more\":1}",
		"{\"subscribe\":7,\"wanted\":true}",
		"{\"subscribe\":\"a\"}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		say(0, texts[i]);
	cr_expect_eq(proxy.n_subscriptions, 0);
}
