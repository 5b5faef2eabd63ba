/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <criterion/criterion.h>
#include <string.h>

#include "zones.h"

/* Texts of the kernel, as it writes them and as it never should. */

TestSuite(system_fields);

Test(system_fields, finds_a_value_by_its_whole_name)
{
	static const char text[] =
		"MemTotalX: 1 kB\nMemTotal:    24684084 kB\nmodel name\t: A B \r\n";
	char value[32];

	cr_assert(field_find(text, "MemTotal", ':', value, sizeof(value)));
	cr_expect_str_eq(value, "24684084 kB");
	cr_assert(field_find(text, "model name", ':', value, sizeof(value)));
	cr_expect_str_eq(value, "A B");
	cr_expect_not(field_find(text, "Mem", ':', value, sizeof(value)));
	cr_expect_not(field_find("", "Mem", ':', value, sizeof(value)));
}

Test(system_fields, cuts_a_long_value)
{
	char value[4];

	cr_assert(field_find("a: 12345", "a", ':', value, sizeof(value)));
	cr_expect_str_eq(value, "123");
}

Test(system_fields, reads_a_process_whose_name_is_like_the_line_itself)
{
	static const char text[] = "7 (a) S (b) R 1 7 7 0 -1 4194560 1 2 3 4 11 22 5 6 20 0 1 0 "
				   "100 1000000 345 184";
	struct process_line line;

	cr_assert(process_line_read(text, &line));
	cr_expect_str_eq(line.name, "a) S (b");
	cr_expect_eq(line.state, 'R');
	cr_expect_eq(line.ticks, 33);
	cr_expect_eq(line.pages, 345);
}

Test(system_fields, refuses_a_process_line_that_is_cut)
{
	static const char *const bad[] = {"", "7", "7 (a", "7 )a( R", "7 (a) R 1 7 7"};
	struct process_line line;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_not(process_line_read(bad[i], &line), "%s", bad[i]);
}

Test(system_fields, reads_a_sound_device)
{
	static const char text[] = "00-03: HDMI 0 : HDMI 0 : playback 1\n"
				   "01-00: USB Audio : USB Audio : playback 1 : capture 1";
	struct pcm_line pcm;

	cr_assert(pcm_line_read(text, &pcm));
	cr_expect_eq(pcm.card, 0);
	cr_expect_eq(pcm.device, 3);
	cr_expect_str_eq(pcm.name, "HDMI 0");
	cr_expect(pcm.plays);
	cr_expect_not(pcm.records);
	cr_assert(pcm_line_read(next_line(text), &pcm));
	cr_expect_eq(pcm.card, 1);
	cr_expect(pcm.plays);
	cr_expect(pcm.records);
	cr_expect_not(pcm_line_read("", &pcm));
	cr_expect_not(pcm_line_read("00-03", &pcm));
	cr_expect_not(pcm_line_read("00-03: HDMI", &pcm));
	cr_assert(pcm_line_read("00-03: HDMI : x\nplayback", &pcm));
	cr_expect_not(pcm.plays);
}

Test(system_fields, finds_a_sound_card)
{
	static const char text[] = " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n"
				   "                      HDA Intel PCH at 0xf7f10000 irq 33\n"
				   " 1 [Device         ]: USB-Audio\n";
	struct card_line card;

	cr_assert(card_find(text, 0, &card));
	cr_expect_str_eq(card.id, "PCH");
	cr_expect_str_eq(card.name, "HDA Intel PCH");
	cr_assert(card_find(text, 1, &card));
	cr_expect_str_eq(card.id, "Device");
	cr_expect_str_eq(card.name, ": USB-Audio");
	cr_expect_not(card_find(text, 2, &card));
	cr_expect_not(card_find("--- no soundcards ---", 0, &card));
}

Test(system_fields, reads_a_route)
{
	struct route_line route;

	cr_assert(route_line_read(
		"eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0", &route));
	cr_expect_str_eq(route.interface, "eth0");
	cr_expect_eq(route.gateway, 0x010200C0);
	cr_expect_eq(route.flags, 3);
	cr_expect_eq(route.metric, 100);
	cr_expect_not(route_line_read("Iface\tDestination\tGateway", &route));
}

static const char tzdata[] = "# version 2024a\n"
			     "R d 1916 o - Jun 14 23s 1 S\n"
			     "Z America/New_York -4:56:2 - LMT 1883 N 18 17u\n"
			     "-5 u E%sT 1920\n"
			     "Z Asia/Tokyo 9:18:59 - LMT 1887 D 31 15u\n"
			     "L Asia/Tokyo Japan\n";

Test(system_fields, finds_a_time_zone_by_its_name_or_its_city)
{
	static const char *const good[][2] = {
		{"America/New_York", "America/New_York"},
		{"asia/tokyo", "Asia/Tokyo"},
		{"new york", "America/New_York"},
		{"TOKYO", "Asia/Tokyo"},
		{"japan", "Japan"},
	};
	struct nearest nearest;
	struct zone zone;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		cr_assert(zones_find(tzdata, good[i][0], &zone, &nearest), "%s", good[i][0]);
		cr_expect_str_eq(zone.name, good[i][1]);
		cr_expect_str_eq(zone.file, i == 4 ? "Asia/Tokyo" : good[i][1]);
	}
}

Test(system_fields, names_the_zones_that_are_near)
{
	struct nearest nearest;
	struct zone zone;
	char words[256];

	cr_expect_not(zones_find(tzdata, "Tokio", &zone, &nearest));
	nearest_write(&nearest, words, sizeof(words));
	cr_expect_str_eq(words, "Tokyo");
	cr_expect_not(zones_find(tzdata, "../../etc/passwd", &zone, &nearest));
	cr_expect_eq(nearest.n, 0);
	cr_expect_not(zones_find("", "x", &zone, &nearest));
}
