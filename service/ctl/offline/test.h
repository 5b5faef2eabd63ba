/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"
#include "util/buffer.h"

/* Call the examples of the toolboxes that @options name, as `toolboxctl test` does: of tools with
 * the risk read, which need no bus and no server, in 10 s together. Print what came; with --json
 * append an object with the members of test's summary to @summary. Return CTL_DONE when all results
 * are as expected, also without examples; else another enum ctl_status. */
int test_examples(const struct ctl_options *options, struct buffer *summary);
