/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/entry.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pass.h"

/*
 * The places of half-made connections. Near is a peer at the other end of a pair of unix sockets;
 * far is a socket of another family, which has no peer on this device, and nothing to read.
 */
#define N_FAR_MAX (ENTRIES_MAX - ENTRIES_NEAR)
#define N_MAX     (ENTRIES_MAX + 8)
#define WAIT_MS   10000
#define TURN_MS   5

/* More than a busy machine needs for a few turns. */
#define MARGIN_MS 5000

/* The bytes that are read of a peer after its refusal. */
#define REFUSED_BYTES (64u << 10)

static const struct http_limits limits = {
	.line_bytes = 100, .header_bytes = 200, .body_bytes = 100};

static struct loop *loop;
static struct entries *entries;
static int peers[N_MAX]; /* our ends of those that are near */
static unsigned int n_peers;
static unsigned int n_judged_near, n_taken;
static bool is_granted;
static char rest_taken[16];

static bool judge(void *data, const struct http_reader *request, bool is_near,
	struct http_refusal *ret_refusal)
{
	(void)data;
	(void)request;
	n_judged_near += is_near;
	*ret_refusal = (struct http_refusal){.status = 403, .reason = "No.", .fields = ""};
	loop_stop(loop);
	return is_granted;
}

static void take(
	void *data, int fd, const struct http_reader *request, const char *rest, size_t size)
{
	(void)data;
	cr_expect_str_eq(http_target(request), "/core");
	cr_assert_lt(size, sizeof(rest_taken));
	memcpy(rest_taken, rest, size);
	n_taken++;
	close(fd);
}

static void set_up(void)
{
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(
		entries_new(loop, &limits, &(struct entry_handler){judge, take}, NULL, &entries),
		0);
}

static void tear_down(void)
{
	entries_free(entries);
	loop_free(loop);
	for (unsigned int i = 0; i < n_peers; i++)
		close(peers[i]);
}

TestSuite(entry, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return the descriptor that the entries have. Its number is not used again by the next one, which
 * is made before a place is. */
static int accept_near(void)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	peers[n_peers++] = pair[0];
	entries_accept(entries, pair[1]);
	return pair[1];
}

static int accept_far(void)
{
	int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	cr_assert_geq(fd, 0);
	entries_accept(entries, fd);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(entry, takes_over_who_is_granted_with_the_bytes_after_the_request)
{
	static const char request[] = "GET /core HTTP/1.1\r\nHost: a\r\n\r\nmore";

	is_granted = true;
	accept_near();
	cr_assert_eq(write(peers[0], request, sizeof(request) - 1), (ssize_t)sizeof(request) - 1);
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect_eq(n_taken, 1);
	cr_expect_eq(n_judged_near, 1);
	cr_expect_str_eq(rest_taken, "more");
	cr_expect_eq(entries_count(entries), 0);
}

Test(entry, answers_who_is_refused)
{
	static const char request[] = "GET /core HTTP/1.1\r\nHost: a\r\n\r\n";
	char answer[512] = "";

	accept_near();
	cr_assert_eq(write(peers[0], request, sizeof(request) - 1), (ssize_t)sizeof(request) - 1);
	cr_expect_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect_gt(read(peers[0], answer, sizeof(answer) - 1), 0);
	cr_expect_eq(strncmp(answer, "HTTP/1.1 403 ", 13), 0, "%s", answer);
	cr_expect_eq(n_taken, 0);
	cr_expect_eq(entries_count(entries), 1, "until the peer closes");
}

Test(entry, closes_a_peer_that_sends_no_request_in_time)
{
	accept_near();
	pass(loop, ENTRY_WAIT_MS - MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_eq(entries_count(entries), 1, "there is time left");
	pass(loop, MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_eq(entries_count(entries), 0);
}

/* Let a peer be refused, and return its descriptor. */
static int refuse_near(void)
{
	static const char request[] = "GET /core HTTP/1.1\r\nHost: a\r\n\r\n";

	accept_near();
	cr_assert_eq(write(peers[0], request, sizeof(request) - 1), (ssize_t)sizeof(request) - 1);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert_eq(entries_count(entries), 1);
	return peers[0];
}

Test(entry, closes_a_refused_peer_that_does_not_close)
{
	refuse_near();
	pass(loop, MARGIN_MS);
	loop_run(loop, TURN_MS);
	cr_expect_eq(entries_count(entries), 0);
}

Test(entry, reads_only_so_much_of_a_refused_peer)
{
	char bytes[4096] = "";
	int fd = refuse_near();

	for (size_t sent = 0; sent < REFUSED_BYTES; sent += sizeof(bytes)) {
		cr_assert_eq(write(fd, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
		loop_run(loop, 0);
	}
	cr_expect_eq(entries_count(entries), 1);
	cr_assert_eq(write(fd, bytes, 1), 1);
	for (int turn = 0; turn < 3; turn++)
		loop_run(loop, 0);
	cr_expect_eq(entries_count(entries), 0);
}

Test(entry, gives_a_newcomer_the_place_of_the_longest_wait)
{
	int first = accept_near();
	int second = accept_near();

	for (int i = 2; i < ENTRIES_MAX; i++)
		accept_near();
	cr_expect_eq(entries_count(entries), ENTRIES_MAX);
	cr_expect(is_open(first));
	accept_near();
	cr_expect_eq(entries_count(entries), ENTRIES_MAX);
	cr_expect(!is_open(first) && is_open(second));
}

Test(entry, keeps_some_places_from_peers_that_are_far)
{
	for (int i = 0; i < N_FAR_MAX; i++) {
		accept_far();
		cr_assert_eq(entries_count(entries), (unsigned int)i + 1, "no place is needed");
	}
	accept_far();
	cr_expect_eq(entries_count(entries), N_FAR_MAX);
	for (int i = 0; i < ENTRIES_NEAR; i++)
		accept_near();
	cr_expect_eq(entries_count(entries), ENTRIES_MAX);
}

Test(entry, closes_peers_that_are_far_before_those_that_are_near)
{
	int near = accept_near();
	int far = accept_far();

	for (int i = 2; i < ENTRIES_MAX; i++)
		accept_near();
	cr_expect(is_open(far));
	accept_near();
	cr_expect_eq(entries_count(entries), ENTRIES_MAX);
	cr_expect(!is_open(far) && is_open(near));
}
