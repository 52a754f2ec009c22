// What the program asks of WebAssembly's system interface.

#include <stddef.h>

/// Reads at most `size` bytes from the standard input, and returns their number: 0 at its end.
size_t system_read(void *target, size_t size);

/// Writes to the standard output.
void system_write(const void *bytes, size_t size);
