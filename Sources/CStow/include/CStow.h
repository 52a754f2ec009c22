#ifndef CSTOW_H
#define CSTOW_H

// What Swift's overlays of the C library hide, because its headers declare it for GNU programs only.

#if defined(__linux__)

#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);

// Older versions of the GNU library have no gettid.
static inline pid_t stow_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

#endif

#endif
