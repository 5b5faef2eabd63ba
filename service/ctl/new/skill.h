/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ctl/options.h"

/*
 * toolboxctl new --from-skill SKILL: write a manifest of kind bus for the tools of a skill of OVOS.
 *
 *   SKILL.public_api      ─▶ its functions ─┐
 *                                           ├─▶ FILE, read like any manifest ─▶ table
 *   ovos.intent.describe  ─▶ its intents  ──┘
 *
 * A skill answers SKILL.public_api if it has functions for others (ovos-workshop, skills/ovos.py,
 * _register_public_api); ovos-core answers ovos.intent.describe from version 3 on
 * (ovos_core/intent_services/manifest.py). Without an answer there is no file. Returns an enum
 * ctl_status.
 */
int new_skill(const struct ctl_options *options);
