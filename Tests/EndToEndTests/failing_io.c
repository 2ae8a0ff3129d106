/* Makes the calls that change or read a store's files fail when a test says so.
 *
 * Preloaded into the service. The file that FAILING_IO names holds a line such as "write 28": the
 * operation (open, read, write, sync) and the error number that it fails with. Only files whose path
 * contains ".sqlite" are concerned.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The error that an operation is to fail with now, or 0. */
static int ordered(const char *operation) {
    const char *path = getenv("FAILING_IO");
    char text[64], name[32];
    int number = 0;
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    long count = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    if (count <= 0) return 0;
    text[count] = 0;
    if (sscanf(text, "%31s %d", name, &number) != 2) return 0;
    return strcmp(name, operation) == 0 ? number : 0;
}

static int fails(int file, const char *operation) {
    char link[64], path[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (!strstr(path, ".sqlite")) return 0;
    int number = ordered(operation);
    if (number) errno = number;
    return number != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int f, const void *b, size_t n) { return fails(f, "write") ? -1 : REAL(write)(f, b, n); }
ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return fails(f, "write") ? -1 : REAL(pwrite)(f, b, n, o); }
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return fails(f, "write") ? -1 : REAL(pwrite64)(f, b, n, o); }
ssize_t read(int f, void *b, size_t n) { return fails(f, "read") ? -1 : REAL(read)(f, b, n); }
ssize_t pread(int f, void *b, size_t n, off_t o) { return fails(f, "read") ? -1 : REAL(pread)(f, b, n, o); }
ssize_t pread64(int f, void *b, size_t n, off64_t o) { return fails(f, "read") ? -1 : REAL(pread64)(f, b, n, o); }
int fsync(int f) { return fails(f, "sync") ? -1 : REAL(fsync)(f); }
int fdatasync(int f) { return fails(f, "sync") ? -1 : REAL(fdatasync)(f); }

static int open_fails(const char *path, int flags) {
    if ((flags & O_ACCMODE) == O_RDONLY || !strstr(path, ".sqlite")) return 0;
    int number = ordered("open");
    if (number) errno = number;
    return number != 0;
}

#define OPEN(name)                                          \
    int name(const char *path, int flags, ...) {            \
        va_list more;                                       \
        va_start(more, flags);                              \
        mode_t mode = va_arg(more, mode_t);                 \
        va_end(more);                                       \
        if (open_fails(path, flags)) return -1;             \
        return REAL(name)(path, flags, mode);               \
    }
OPEN(open)
OPEN(open64)
