#define _GNU_SOURCE
#include <spawn.h>

#include "CGlibc.h"

int gb_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
