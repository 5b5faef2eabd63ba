/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/job_checks.h"

#include <errno.h>
#include <string.h>

#include "loader/gate/gate.h"
#include "loader/sandbox_max.h"
#include "loader/tool_settings.h"

bool job_check_sandbox(struct load_job *job)
{
	struct sandbox_refusal refusal;

	/* The sandbox of a toolbox left out is judged when the toolbox is enabled. */
	if (job->package->is_left_out)
		return true;
	if (kind_facts(job->package->kind)->sandbox == SANDBOX_COMMAND &&
		job->package->sandbox.class < SANDBOX_COMMAND)
		load_job_fail(job, "/sandbox/class",
			"no program can be started in the sandbox class that the configuration "
			"gives; expected \"command\" or \"none\"");
	else if (sandbox_max_refuses(job->jobs->options.config, job->package, &refusal))
		load_job_fail(job, refusal.pointer, refusal.text);
	else
		return true;
	load_job_set_package(job, NULL);
	return false;
}

bool job_check_workers(struct load_job *job)
{
	if (job->package->concurrent == 0 || job->package->limits.workers == 1)
		return true;
	load_job_fail(job, "/concurrent", PACKAGE_ONE_PROCESS);
	load_job_set_package(job, NULL);
	return false;
}

bool job_check_gate(struct load_job *job)
{
	if (!job->package->has_gate || gate_is_for(job->package->kind))
		return true;
	load_job_fail(job, "", GATE_KINDS);
	load_job_set_package(job, NULL);
	return false;
}

bool job_check_risks(struct load_job *job)
{
	const struct tool *tool =
		tool_settings_find_lowered(job->jobs->options.config, job->toolbox);
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!tool)
		return true;
	buffer_printf(&text,
		"toolboxes.%s.tools.%s.risk lowers the risk of a tool whose message changes the "
		"machine, or speaks for a person: it must be execute; leave it out",
		job->package->id, tool->name);
	load_job_fail(job, "", buffer_terminate(&text) ? text.data : strerror(ENOMEM));
	load_job_set_package(job, NULL);
	return false;
}
