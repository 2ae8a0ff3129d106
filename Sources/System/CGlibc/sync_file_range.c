#define _GNU_SOURCE
#include "CGlibc.h"

#include <fcntl.h>

int gb_write_back(int file, long offset, long count) {
    return sync_file_range(file, offset, count,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}
