/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bus/address.h"

static void expect_url(const char *url, const char *expected)
{
	struct bus_address address;
	const char *reason = "";
	char text[BUS_URL_BYTES];

	cr_assert_eq(bus_address_parse(url, &address, &reason), 0, "%s: %s", url, reason);
	bus_address_format(&address, text);
	cr_assert_str_eq(text, expected);
}

static void expect_refusal(const char *url, const char *words)
{
	struct bus_address address = {.port = 7};
	const char *reason = NULL;

	cr_assert_eq(bus_address_parse(url, &address, &reason), -EINVAL, "%s", url);
	cr_assert_not_null(strstr(reason, words), "%s: %s", url, reason);
	cr_assert_eq(address.port, 7, "written only on success");
	cr_assert_eq(bus_address_parse(url, &address, NULL), -EINVAL);
}

Test(bus_address, is_read_and_written)
{
	expect_url("ws://127.0.0.1:8181/core", "ws://127.0.0.1:8181/core");
	expect_url("wss://bus.example.org:443/a/b?c", "wss://bus.example.org:443/a/b?c");
	expect_url("ws://[::1]:9/", "ws://[::1]:9/");
	expect_url("WS://localhost:0/x", "ws://localhost:0/x");
}

/* Such a URL comes into logs, status and terminals. */
Test(bus_address, is_written_without_the_values_of_its_query)
{
	char path[BUS_PATH_BYTES] = "/?";
	struct bus_address address = bus_address_default;
	char url[BUS_URL_BYTES];

	expect_url("ws://h:1/core?token=secret", "ws://h:1/core?token=***");
	expect_url("ws://h:1/a=b?x=y=z&t=&u;key=k", "ws://h:1/a=b?x=***&t=***&u;key=***");
	for (size_t i = 2; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "=&", 3);
	memcpy(address.path, path, sizeof(path));
	bus_address_format(&address, url);
	cr_assert_eq(strlen(url), strlen("ws://127.0.0.1:8181") + 2 + 126 * 5);
}

Test(bus_address, masks_its_secrets_in_a_text_of_the_bus)
{
	struct bus_address address = {.path = "/core?token=secret1&a=b", .token = "secret22"};
	char text[] = "b: no user has secret1, secret22 or secret1secret22";

	bus_address_mask(&address, text);
	cr_expect_str_eq(text, "b: no user has ***, *** or ******");
}

Test(bus_address, has_defaults_for_what_is_left_out)
{
	expect_url("ws://localhost", "ws://localhost:8181/core");
	expect_url("wss://localhost:1", "wss://localhost:1/core");
	expect_url("ws://[fe80::1]/x", "ws://[fe80::1]:8181/x");
	expect_url("ws://localhost/", "ws://localhost:8181/");
}

Test(bus_address, says_what_was_expected)
{
	expect_refusal("", "ws://");
	expect_refusal("http://localhost", "ws://");
	expect_refusal("localhost:8181", "ws://");
	expect_refusal("ws://", "a host");
	expect_refusal("ws://:8181", "a host");
	expect_refusal("ws://a b", "a host");
	expect_refusal("ws://user@host", "a host");
	expect_refusal("ws://[::1", "a host");
	expect_refusal("ws://[127.0.0.1]/", "a host");
	expect_refusal("ws://::1/", "a host");
	expect_refusal("ws://h:65536", "a port");
	expect_refusal("ws://h:", "a port");
	expect_refusal("ws://h:x", "a port");
	expect_refusal("ws://h:-1", "a port");
	expect_refusal("ws://h:1x", "a path");
	expect_refusal("ws://h?x", "a path");
	expect_refusal("ws://h/a b", "a path");
	expect_refusal("ws://h/\r\nX: y", "a path");
	expect_refusal("ws://h/#f", "a path");
	expect_refusal("ws://h/\xC3\xA9", "a path");
}

Test(bus_address, bounds_host_and_path)
{
	char url[1024];
	struct bus_address address;

	snprintf(url, sizeof(url), "ws://%0255d/", 0);
	cr_assert_eq(bus_address_parse(url, &address, NULL), 0);
	cr_assert_eq(strlen(address.host), 255);
	snprintf(url, sizeof(url), "ws://%0256d/", 0);
	expect_refusal(url, "a host");
	snprintf(url, sizeof(url), "ws://h/%0254d", 0);
	cr_assert_eq(bus_address_parse(url, &address, NULL), 0);
	snprintf(url, sizeof(url), "ws://h/%0255d", 0);
	expect_refusal(url, "a path");
}
