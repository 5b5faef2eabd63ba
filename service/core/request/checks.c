/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/checks.h"

#include "bus/account.h"
#include "core/request/errors.h"
#include "util/clock.h"
#include "util/siphash.h"

uint64_t checks_source_key(const struct text_view *source)
{
	struct siphash_key key = siphash_process_key();
	struct siphash hash;

	siphash_init(&hash, &key);
	siphash_bytes(&hash, source->text, source->size);
	return siphash_finish(&hash);
}

uint64_t checks_wait_ns(const struct bus *bus, const struct request_scope *scope)
{
	return account_wait_ns(
		bus_sender(bus), checks_source_key(&scope->caller.source), clock_now_ns());
}

bool checks_admit(const struct bus *bus, const struct request_scope *scope, struct answer *answer)
{
	uint64_t wait_ns = checks_wait_ns(bus, scope);

	if (wait_ns > 0)
		errors_write_checking(answer, &scope->caller.source, wait_ns);
	return wait_ns == 0;
}

bool checks_charge_long(const struct bus *bus, const struct request_scope *scope, uint64_t spent_ns)
{
	account_charge_time(bus_sender(bus), checks_source_key(&scope->caller.source),
		clock_now_ns(), scope->is_beside ? spent_ns : debt_price(spent_ns));
	return true;
}
