/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks.h"

#include "bus/account.h"
#include "core/errors.h"
#include "json/scan.h"
#include "util/clock.h"
#include "util/siphash.h"

/* A message with so many values can take DEBT_FREE_NS to read. */
#define LONG_VALUES 65536

static uint64_t hash_source(const struct text_view *source)
{
	struct siphash_key key = siphash_process_key();
	struct siphash hash;

	siphash_init(&hash, &key);
	siphash_bytes(&hash, source->text, source->size);
	return siphash_finish(&hash);
}

uint64_t checks_wait_ns(const struct bus *bus, const struct request_scope *scope)
{
	return account_wait_ns(bus_sender(bus), hash_source(&scope->caller.source), clock_now_ns());
}

bool checks_admit(const struct bus *bus, const struct request_scope *scope, struct answer *answer)
{
	uint64_t wait_ns = checks_wait_ns(bus, scope);

	if (wait_ns > 0)
		errors_write_checking(answer, &scope->caller.source, wait_ns);
	return wait_ns == 0;
}

bool checks_must_skim_long(const struct bus *bus, const char *text, size_t size)
{
	return account_owes(bus_sender(bus), clock_now_ns()) &&
	       json_scan_is_dense(text, size, LONG_VALUES);
}

bool checks_charge(const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns)
{
	if (!debt_is_due(spent_ns))
		return false;
	account_charge_time(
		bus_sender(bus), hash_source(&scope->caller.source), clock_now_ns(), spent_ns);
	return true;
}
