/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <signal.h>

/* Start a thread for @function with @data. It blocks all signals: they are for the loop. Return 0
 * or a negative errno. */
static inline int thread_start(pthread_t *ret_thread, void *(*function)(void *data), void *data)
{
	sigset_t all;
	sigset_t old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(ret_thread, NULL, function, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}
