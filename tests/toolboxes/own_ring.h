/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wire/ring.h"

/* Return the ring of answers of this host, which is not hard to find; NULL: there is none, or the
 * sandbox hides it. */
static inline struct ring_memory *own_ring(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	uintptr_t start = 0;

	while (maps && !start && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:answers"))
			start = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the file has numbers */
	return (struct ring_memory *)start;
}

/* Let the host send through the socket alone: bytes that a tool writes into the socket stay before
 * the answer of the tool then. The host sees memory of its own in place of the ring, with frames
 * that were not taken: no later report of the daemon changes that. */
static inline void leave_ring(void)
{
	struct ring_memory *ring = own_ring();

	if (!ring)
		return;
	if (mmap(ring, sizeof(*ring), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != ring)
		abort();
	atomic_store(&ring->taken, 1u << 16);
}
