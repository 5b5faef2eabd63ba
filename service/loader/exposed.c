/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/exposed.h"

void exposed_report(const struct config *config, const struct catalogue *catalogue,
	diagnostic_function report, void *data)
{
	if (*config->embedded_token)
		return;
	for (size_t i = 0; i < catalogue_n_toolboxes(catalogue); i++) {
		const struct package *package =
			catalogue_toolbox(catalogue, i, NULL, NULL)->package;

		if (package->sandbox.class != SANDBOX_NET)
			continue;
		report(data,
			&(struct diagnostic){.severity = DIAGNOSTIC_WARNING,
				.file = package->file,
				.text = "class net: its tools can speak on a bus that asks for no "
					"token, as any source; with --embedded-bus, set "
					"embedded.token_file"});
	}
}
