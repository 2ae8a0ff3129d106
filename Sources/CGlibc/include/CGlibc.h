// What the C library declares to GNU sources alone, and so not to Swift.
#ifndef GEOBUCKET_CGLIBC_H
#define GEOBUCKET_CGLIBC_H

#include <stdbool.h>
#include <stddef.h>

// memmem(3): the first occurrence of `part` in `bytes`, or NULL; linear time.
const void *gb_memmem(const void *bytes, size_t count, const void *part, size_t part_count);

// malloc_trim(3) with no padding: gives the free pages of every arena back to the system.
void gb_malloc_trim(void);

// sync_file_range(2): writes a part of a file to the disk and waits for it; 0, or -1 and errno.
int gb_write_back(int file, long offset, long count);

// Tells the processor that the memory at an address will be read soon; any address may be given.
static inline void gb_prefetch(const void *address) { __builtin_prefetch(address); }

// A flag that many threads may set and read at once; it puts nothing else in order.
static inline void gb_set(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELAXED); }
static inline bool gb_is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }

#endif
