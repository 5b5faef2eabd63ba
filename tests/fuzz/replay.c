/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* A fuzz target without the fuzzer: each file of a folder is one input. It aborts where the target
 * does. For what a sanitizer would distort, such as time. */

#define INPUT_BYTES_MAX (1u << 20)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* False, after a line on stderr, when the file cannot be read. */
static bool replay(const char *folder, const char *name)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	cleanup(buffer_deinit) struct buffer input = {0};
	int r;

	buffer_printf(&path, "%s/%s", folder, name);
	r = file_read(buffer_terminate(&path), INPUT_BYTES_MAX, &input);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", path.data, strerror(-r));
		return false;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)input.data, input.size);
	return true;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int n = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1;
	bool is_whole = true;
	int n_inputs = 0;

	if (n < 0) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			is_whole = replay(argv[1], entries[i]->d_name) && is_whole;
			n_inputs++;
		}
		free(entries[i]);
	}
	free(entries);
	printf("%d inputs\n", n_inputs);
	return is_whole && n_inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
