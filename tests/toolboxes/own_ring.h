/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
 * the answer of the tool then. A frame that the host did not count spoils the count for good. */
static inline void leave_ring(void)
{
	struct ring_memory *ring = own_ring();

	if (ring)
		atomic_fetch_add(&ring->taken, 1u << 16);
}
