#include "CGlibc.h"

#include <malloc.h>

void gb_malloc_trim(void) { (void)malloc_trim(0); }

void gb_malloc_thresholds(int mapped_bytes, int kept_bytes) {
    (void)mallopt(M_MMAP_THRESHOLD, mapped_bytes);
    (void)mallopt(M_TRIM_THRESHOLD, kept_bytes);
}
