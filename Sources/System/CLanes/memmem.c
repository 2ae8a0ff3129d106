#define _GNU_SOURCE
#include <string.h>

#include "CLanes.h"

const void *gb_memmem(const void *bytes, size_t count, const void *part, size_t part_count) {
    return memmem(bytes, count, part, part_count);
}
