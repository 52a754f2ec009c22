// What Embedded Swift takes from a C library and from the runtime of a compiler, of which WebAssembly without a system
// has neither: memory, random numbers, and integers of 128 bits. Plain rather than fast.

#include "System.h"

#include <stdint.h>

// MARK: the system

typedef struct {
  void *bytes;
  size_t size;
} Part;

#define SYSTEM(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

SYSTEM(fd_read) int fd_read(int file, Part *parts, size_t count, size_t *size);
SYSTEM(fd_write) int fd_write(int file, const Part *parts, size_t count, size_t *size);
SYSTEM(random_get) int random_get(void *target, size_t size);

size_t system_read(void *target, size_t size) {
  Part part = {target, size};
  size_t result = 0;
  if (fd_read(0, &part, 1, &result) != 0) __builtin_trap();
  return result;
}

void system_write(const void *bytes, size_t size) {
  while (size > 0) {
    Part part = {(void *)bytes, size};
    size_t written = 0;
    if (fd_write(1, &part, 1, &written) != 0) __builtin_trap();
    bytes = (const char *)bytes + written;
    size -= written;
  }
}

void arc4random_buf(void *target, size_t size) {
  if (random_get(target, size) != 0) __builtin_trap();
}

int swift_main(int count, char **arguments) __asm__("__main_argc_argv");

void _start(void) {
  if (swift_main(0, 0) != 0) __builtin_trap();
}

uintptr_t __stack_chk_guard = 0x53746F77;

void __stack_chk_fail(void) { __builtin_trap(); }

// MARK: memory

// The list of free blocks of each power of two. A block is preceded by the number of its list.
typedef struct Block {
  struct Block *next;
} Block;

static Block *free_blocks[32];
extern unsigned char __heap_base;
static uintptr_t heap_end;

static const size_t header = 16;

static void *new_block(int number) {
  if (heap_end == 0) heap_end = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  size_t size = header + ((size_t)1 << number);
  size_t memory = __builtin_wasm_memory_size(0) << 16;
  if (size > memory - heap_end) {
    size_t pages = (size - (memory - heap_end) + 0xFFFF) >> 16;
    if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return 0;
  }
  unsigned char *block = (unsigned char *)heap_end + header;
  heap_end += size;
  block[-1] = (unsigned char)number;
  return block;
}

static void *allocate(size_t size) {
  int number = size <= 16 ? 4 : 32 - __builtin_clz((unsigned)size - 1);
  if (number >= 31) return 0;
  Block *block = free_blocks[number];
  if (!block) return new_block(number);
  free_blocks[number] = block->next;
  return block;
}

void free(void *memory) {
  if (!memory) return;
  Block *block = memory;
  int number = ((unsigned char *)memory)[-1];
  block->next = free_blocks[number];
  free_blocks[number] = block;
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment > header) __builtin_trap();
  *result = allocate(size);
  return *result ? 0 : 12;
}

void *memmove(void *target, const void *source, size_t size) {
  unsigned char *to = target;
  const unsigned char *from = source;
  if (to < from) {
    for (size_t index = 0; index < size; index++) to[index] = from[index];
  } else {
    while (size-- > 0) to[size] = from[size];
  }
  return target;
}

void *memcpy(void *target, const void *source, size_t size) { return memmove(target, source, size); }

void *memset(void *target, int byte, size_t size) {
  unsigned char *to = target;
  for (size_t index = 0; index < size; index++) to[index] = (unsigned char)byte;
  return target;
}

int memcmp(const void *left, const void *right, size_t size) {
  const unsigned char *one = left, *other = right;
  for (size_t index = 0; index < size; index++) {
    if (one[index] != other[index]) return one[index] - other[index];
  }
  return 0;
}

// MARK: integers of 128 bits

// Shifts by 64 are none: they are the halves, for which the compiler calls nothing.
typedef unsigned __int128 Wide;

static Wide wide(uint64_t high, uint64_t low) { return (Wide)high << 64 | low; }
static uint64_t high(Wide value) { return (uint64_t)(value >> 64); }
static uint64_t low(Wide value) { return (uint64_t)value; }

Wide __ashlti3(Wide value, int count) {
  if (count == 0) return value;
  if (count >= 64) return wide(low(value) << (count - 64), 0);
  return wide(high(value) << count | low(value) >> (64 - count), low(value) << count);
}

Wide __multi3(Wide left, Wide right) {
  uint64_t a = low(left) >> 32, b = low(left) & 0xFFFFFFFF, c = low(right) >> 32, d = low(right) & 0xFFFFFFFF;
  uint64_t middle = b * c + (b * d >> 32);
  uint64_t other = a * d + (middle & 0xFFFFFFFF);
  uint64_t above = a * c + (middle >> 32) + (other >> 32);
  return wide(above + high(left) * low(right) + low(left) * high(right), other << 32 | (b * d & 0xFFFFFFFF));
}

// Bit by bit; gives the remainder.
static Wide divide(Wide dividend, Wide divisor, Wide *quotient) {
  uint64_t rest_high = 0, rest_low = 0, result[2] = {0, 0};
  for (int bit = 127; bit >= 0; bit--) {
    uint64_t half = bit >= 64 ? high(dividend) : low(dividend);
    rest_high = rest_high << 1 | rest_low >> 63;
    rest_low = rest_low << 1 | (half >> (bit & 63) & 1);
    if (wide(rest_high, rest_low) >= divisor) {
      Wide rest = wide(rest_high, rest_low) - divisor;
      rest_high = high(rest);
      rest_low = low(rest);
      result[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
  }
  *quotient = wide(result[1], result[0]);
  return wide(rest_high, rest_low);
}

Wide __udivti3(Wide dividend, Wide divisor) {
  Wide quotient;
  divide(dividend, divisor, &quotient);
  return quotient;
}

Wide __umodti3(Wide dividend, Wide divisor) {
  Wide quotient;
  return divide(dividend, divisor, &quotient);
}
