/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <spawn.h>

/* Have what is spawned begin as new: in a group of its own, with every signal at its default and
 * none blocked. 0, or a positive errno, as all functions of posix_spawn() return it. */
int spawn_attributes_set(posix_spawnattr_t *attributes);
