/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The calls in need of a person's approval (contract.md, Approval). */
enum approval_mode {
	APPROVAL_OFF,     /* none */
	APPROVAL_EXECUTE, /* calls of tools whose risk is execute */
	APPROVAL_AUTO,    /* write, execute and unrated */
	APPROVAL_STRICT,  /* all */
};

/* "off", "execute", "auto", "strict", by mode; NULL ends them. */
extern const char *const approval_mode_names[];
