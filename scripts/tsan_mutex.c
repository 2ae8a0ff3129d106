// Shows Swift's Mutex to the thread sanitizer. Its fast path is compiled into those who use it, where the sanitizer
// sees it. What waits for a mutex, and what wakes those who wait, is in a library that is not instrumented: accesses
// that a wait has put in order would be told as races. scripts/fuzz.sh loads this before the tests (LD_PRELOAD).
//
// Were these functions called otherwise in another release of Swift, such races would be told again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Programs without the sanitizer, which tests start, do not have these.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

METHOD void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
METHOD bool try_lock_slow(SELF void *mutex) __asm__(TRY_LOCK_SLOW);
METHOD void unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

METHOD void lock_slow(uint32_t thread, SELF void *mutex) {
    METHOD void (*next)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK_SLOW);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

METHOD bool try_lock_slow(SELF void *mutex) {
    METHOD bool (*next)(SELF void *) = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    bool locked = next(mutex);
    if (locked && __tsan_acquire) __tsan_acquire(mutex);
    return locked;
}

METHOD void unlock_slow(SELF void *mutex) {
    METHOD void (*next)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}
