/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/progress.h"

#include "json/writer.h"
#include "wire/wire.h"

void progress_append(
	struct buffer *out, uint64_t id, double value, const char *text, size_t text_size)
{
	size_t start = wire_begin(out);

	buffer_append_string(out, "{\"progress\":");
	if (value >= 0 && value <= 1)
		json_write_f64(out, value);
	else
		buffer_append_string(out, "null");
	buffer_append_string(out, ",\"text\":");
	if (text)
		json_write_bytes_lossy(out, text, text_size);
	else
		buffer_append_string(out, "null");
	buffer_append_char(out, '}');
	wire_finish(out, start, WIRE_PROGRESS, id);
}
