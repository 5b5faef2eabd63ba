/* SPDX-License-Identifier: Apache-2.0 */

/*
 * audio_devices: the devices of ALSA, as the kernel lists them in /proc/asound. Names made by sound
 * servers (PipeWire, PulseAudio) are not there; a device is `hw:CARD=ID,DEV=N` for each of them,
 * too, and `plughw:…` where ALSA should convert rates and formats.
 */

#include <stdio.h>

#include "fields.h"
#include "place.h"
#include "system.h"

#define DEVICES_MAX 128

static void put_device(struct toolbox_call call, const struct pcm_line *pcm, const char *cards)
{
	struct card_line card = {.id = ""};
	char name[64];

	if (!card_find(cards, pcm->card, &card))
		snprintf(card.id, sizeof(card.id), "%u", pcm->card);
	toolbox_open_object(call, NULL);
	snprintf(name, sizeof(name), "hw:CARD=%s,DEV=%u", card.id, pcm->device);
	put_lossy(call, "device", name);
	put_lossy(call, "name", pcm->name);
	put_lossy(call, "card", card.name);
	toolbox_put_bool(call, "output", pcm->plays);
	toolbox_put_bool(call, "input", pcm->records);
	toolbox_close(call);
}

void audio_devices(struct toolbox_call call, void *data)
{
	PLACE_TEXT cards = place_read("/proc/asound/cards");
	PLACE_TEXT pcm = place_read("/proc/asound/pcm");
	struct pcm_line line;
	uint64_t outputs = 0;
	uint64_t inputs = 0;
	unsigned int n = 0;

	(void)data;
	if (!cards) {
		fail(call, "this kernel has no ALSA: there is no /proc/asound. Load the driver of "
			   "the sound card (snd_…), or plug a USB sound card in");
		return;
	}
	toolbox_open_array(call, "devices");
	for (const char *at = pcm; at && n < DEVICES_MAX; at = next_line(at)) {
		if (!pcm_line_read(at, &line))
			continue;
		put_device(call, &line, cards);
		outputs += line.plays;
		inputs += line.records;
		n++;
	}
	toolbox_close(call);
	toolbox_put_u64(call, "n_outputs", outputs);
	toolbox_put_u64(call, "n_inputs", inputs);
	toolbox_reply(call);
}
