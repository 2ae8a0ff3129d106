#define _GNU_SOURCE
#include "CGlibc.h"

#include <pthread.h>
#include <string.h>

void gb_name_thread(const char *name) {
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    (void)pthread_setname_np(pthread_self(), kept);
}
