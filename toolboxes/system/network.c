/* SPDX-License-Identifier: Apache-2.0 */

/*
 * network: interfaces and their addresses, from files alone, so that no socket is needed.
 *
 *   /sys/class/net/NAME      state, hardware address, bytes
 *   /proc/net/if_inet6       addresses of IPv6, with their interfaces
 *   /proc/net/fib_trie       addresses of IPv4: leaves of the kind `host LOCAL`
 *   /proc/net/route          the interface of each of them, by the narrowest route; the gateway
 */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "place.h"
#include "system.h"

#define INTERFACES_MAX 64
#define ADDRESSES_MAX  256

#define ROUTE_UP 1u

/* The texts of the kernel; NULL: not there. */
struct tables {
	char *routes;
	char *inet6;
	char *trie;
	uint32_t locals[ADDRESSES_MAX]; /* addresses of IPv4 in network byte order */
	unsigned int n_locals;
};

static void free_tables(struct tables *tables)
{
	free(tables->routes);
	free(tables->inet6);
	free(tables->trie);
}

static void add_local(struct tables *tables, uint32_t address)
{
	for (unsigned int i = 0; i < tables->n_locals; i++)
		if (tables->locals[i] == address)
			return;
	if (tables->n_locals < ADDRESSES_MAX)
		tables->locals[tables->n_locals++] = address;
}

/* Find the leaves of this device: `|-- 192.0.2.2`, then `/32 host LOCAL`. */
static void find_locals(struct tables *tables)
{
	char text[INET_ADDRSTRLEN] = "";
	struct in_addr address;

	for (const char *line = tables->trie; line; line = next_line(line)) {
		const char *at = line + strspn(line, " ");

		if (sscanf(at, "|-- %15[0-9.]", text) == 1 ||
			sscanf(at, "+-- %15[0-9.]", text) == 1)
			continue;
		if (strncmp(at, "/32 host LOCAL", 14) == 0 &&
			inet_pton(AF_INET, text, &address) == 1)
			add_local(tables, address.s_addr);
	}
}

static void read_tables(struct tables *ret_tables)
{
	*ret_tables = (struct tables){
		.routes = place_read("/proc/net/route"),
		.inet6 = place_read("/proc/net/if_inet6"),
		.trie = place_read("/proc/net/fib_trie"),
	};
	find_locals(ret_tables);
}

/* Find the interface of @address: by the narrowest route to its network. */
static bool find_interface(const struct tables *tables, uint32_t address, char ret_name[16])
{
	uint32_t narrowest = 0;
	bool is_found = false;
	struct route_line route;

	if ((ntohl(address) >> 24) == 127) {
		strcpy(ret_name, "lo");
		return true;
	}
	for (const char *line = tables->routes; line; line = next_line(line)) {
		if (!route_line_read(line, &route) || route.gateway != 0 || route.mask == 0 ||
			(address & route.mask) != route.destination)
			continue;
		if (is_found && ntohl(route.mask) <= narrowest)
			continue;
		narrowest = ntohl(route.mask);
		strcpy(ret_name, route.interface);
		is_found = true;
	}
	return is_found;
}

static void put_v4(struct toolbox_call call, uint32_t address)
{
	char text[INET_ADDRSTRLEN];

	if (inet_ntop(AF_INET, &(struct in_addr){address}, text, sizeof(text)))
		toolbox_put_string(call, NULL, text);
}

/* Put the addresses of IPv6 of @name: lines `ADDRESS INDEX PREFIX SCOPE FLAGS NAME`. */
static void put_v6(struct toolbox_call call, const struct tables *tables, const char *name)
{
	for (const char *line = tables->inet6; line; line = next_line(line)) {
		struct in6_addr address;
		char text[INET6_ADDRSTRLEN];
		char owner[16];
		char hex[33];

		if (sscanf(line, "%32[0-9a-f] %*x %*x %*x %*x %15s", hex, owner) != 2 ||
			strlen(hex) != 32 || strcmp(owner, name) != 0)
			continue;
		for (size_t i = 0; i < 16; i++) {
			char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

			address.s6_addr[i] = (uint8_t)strtoul(byte, NULL, 16);
		}
		if (inet_ntop(AF_INET6, &address, text, sizeof(text)))
			toolbox_put_string(call, NULL, text);
	}
}

static void put_addresses(struct toolbox_call call, const struct tables *tables, const char *name)
{
	char owner[16];

	toolbox_open_array(call, "addresses");
	for (unsigned int i = 0; i < tables->n_locals; i++)
		if (find_interface(tables, tables->locals[i], owner) && strcmp(owner, name) == 0)
			put_v4(call, tables->locals[i]);
	put_v6(call, tables, name);
	toolbox_close(call);
}

static void put_counter(struct toolbox_call call, const char *key, const char *name)
{
	int64_t number;

	if (place_read_number(&number, "/sys/class/net/%s/statistics/%s", name, key))
		toolbox_put_i64(call, key, number);
}

static void put_interface(struct toolbox_call call, const struct tables *tables, const char *name)
{
	PLACE_TEXT state = place_read("/sys/class/net/%s/operstate", name);
	PLACE_TEXT hardware = place_read("/sys/class/net/%s/address", name);
	PLACE_FOLDER wireless = place_open_folder("/sys/class/net/%s/wireless", name);
	int64_t megabits;

	toolbox_open_object(call, NULL);
	put_lossy(call, "name", name);
	put_lossy(call, "state", state ? state : "unknown");
	toolbox_put_bool(call, "wireless", wireless != NULL);
	if (hardware)
		put_lossy(call, "hardware_address", hardware);
	put_addresses(call, tables, name);
	if (place_read_number(&megabits, "/sys/class/net/%s/speed", name) && megabits > 0)
		toolbox_put_i64(call, "speed_mbit", megabits);
	put_counter(call, "rx_bytes", name);
	put_counter(call, "tx_bytes", name);
	toolbox_close(call);
}

/* Put the way to other networks: the gateway with the lowest metric, and the address there. */
static void put_way_out(struct toolbox_call call, const struct tables *tables)
{
	struct route_line best = {.metric = UINT32_MAX};
	struct route_line route;
	bool is_found = false;
	char text[INET_ADDRSTRLEN];
	char owner[16];

	for (const char *line = tables->routes; line; line = next_line(line))
		if (route_line_read(line, &route) && route.mask == 0 && (route.flags & ROUTE_UP) &&
			(!is_found || route.metric < best.metric)) {
			best = route;
			is_found = true;
		}
	toolbox_put_bool(call, "has_default_route", is_found);
	if (!is_found)
		return;
	put_lossy(call, "default_interface", best.interface);
	if (best.gateway && inet_ntop(AF_INET, &(struct in_addr){best.gateway}, text, sizeof(text)))
		toolbox_put_string(call, "gateway", text);
	for (unsigned int i = 0; i < tables->n_locals; i++) {
		struct in_addr address = {tables->locals[i]};

		if (!find_interface(tables, address.s_addr, owner) ||
			strcmp(owner, best.interface) != 0 ||
			!inet_ntop(AF_INET, &address, text, sizeof(text)))
			continue;
		toolbox_put_string(call, "address", text);
		return;
	}
}

void network(struct toolbox_call call, void *data)
{
	PLACE_FOLDER folder = place_open_folder("/sys/class/net");
	struct tables tables;
	const char *name;
	unsigned int n = 0;

	(void)data;
	if (!folder) {
		fail(call, "/sys/class/net cannot be read: is /sys mounted?");
		return;
	}
	read_tables(&tables);
	put_way_out(call, &tables);
	toolbox_open_array(call, "interfaces");
	/* bonding_masters lies there, and is a file. */
	while (n < INTERFACES_MAX && (name = place_next(folder))) {
		PLACE_FOLDER interface = place_open_folder("/sys/class/net/%s", name);

		if (!interface)
			continue;
		put_interface(call, &tables, name);
		n++;
	}
	toolbox_reply(call);
	free_tables(&tables);
}
