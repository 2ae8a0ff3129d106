#define _GNU_SOURCE
#include "CGlibc.h"

#include <fcntl.h>
#include <sys/stat.h>

int gb_identify(int directory, const char *path, uint64_t *device, uint64_t *number) {
    struct statx status;
    int flags = path[0] == '\0' ? AT_EMPTY_PATH : 0;
    if (statx(directory, path, flags, STATX_INO, &status) != 0) return -1;
    *device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    *number = status.stx_ino;
    return 0;
}
