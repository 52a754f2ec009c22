// The part of Windows' C library that the libraries use.

#pragma once
#include <stddef.h>

char *getenv(const char *name);
int memcmp(const void *, const void *, size_t);
