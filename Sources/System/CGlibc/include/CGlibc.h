// What the C library declares to GNU sources alone, and so not to Swift.
#ifndef GEOBUCKET_CGLIBC_H
#define GEOBUCKET_CGLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// malloc_trim(3) with no padding: gives the free pages of every arena back to the system.
void gb_malloc_trim(void);

// mallopt(3): from how many bytes on an allocation is mapped by itself, and how much free memory an
// arena may keep at its end, where malloc_trim leaves it alone in all arenas but the first. Both stay
// as they are then. Without this each free of something large raises both, up to 64 MiB an arena.
void gb_malloc_thresholds(int mapped_bytes, int kept_bytes);

// pthread_setname_np(3): names the calling thread; Linux keeps 15 bytes.
void gb_name_thread(const char *name);

// eventfd(2): a descriptor to which one writes an 8-byte number other than 0, and which is readable
// then; -1 if there is none left. Reads and writes do not wait.
int gb_eventfd(void);

// posix_spawn_file_actions_addclosefrom_np(3): the program that is started has no file open from the
// number `first` on; 0 or an error. The actions are a posix_spawn_file_actions_t.
int gb_close_from(void *actions, int first);

// sync_file_range(2): writes a part of a file to the disk and waits for it; 0, or -1 and errno.
int gb_write_back(int file, long offset, long count);

// statx(2): the device and the inode number of a file, by its path or, if that is empty, of the open
// file `directory`; 0, or -1 and errno. It asks for nothing else: Linux (6.13 on) gives a file whose
// times have been asked for a new time at the next write, and each sync has to write that time too.
int gb_identify(int directory, const char *path, uint64_t *device, uint64_t *number);

// Tells the processor that the memory at an address will be read soon; any address may be given.
static inline void gb_prefetch(const void *address) { __builtin_prefetch(address); }

// A flag that many threads may set and read at once; it puts nothing else in order.
static inline void gb_set(bool *flag) { __atomic_store_n(flag, true, __ATOMIC_RELAXED); }
static inline bool gb_is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }

// Values that one thread writes while others read: who reads one sees what was written before it.
static inline uint8_t gb_load8(const uint8_t *value) {
    return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}
static inline void gb_store8(uint8_t *value, uint8_t next) {
    __atomic_store_n(value, next, __ATOMIC_RELEASE);
}
static inline uint32_t gb_load32(const uint32_t *value) {
    return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}
static inline void gb_store32(uint32_t *value, uint32_t next) {
    __atomic_store_n(value, next, __ATOMIC_RELEASE);
}

#endif
