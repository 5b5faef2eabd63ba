/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks.h"

#include "bus/account.h"
#include "core/errors.h"
#include "util/clock.h"
#include "util/siphash.h"

static uint64_t hash_source(const struct text_view *source)
{
	struct siphash_key key = siphash_process_key();
	struct siphash hash;

	siphash_init(&hash, &key);
	siphash_bytes(&hash, source->text, source->size);
	return siphash_finish(&hash);
}

bool checks_admit(const struct bus *bus, const struct request_scope *scope, struct answer *answer)
{
	const struct text_view *source = &scope->caller.source;
	uint64_t wait_ns = account_wait_ns(bus_sender(bus), hash_source(source), clock_now_ns());

	if (wait_ns > 0)
		errors_write_checking(answer, source, wait_ns);
	return wait_ns == 0;
}

bool checks_charge(const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns)
{
	if (!debt_is_due(spent_ns))
		return false;
	account_charge_time(
		bus_sender(bus), hash_source(&scope->caller.source), clock_now_ns(), spent_ns);
	return true;
}
