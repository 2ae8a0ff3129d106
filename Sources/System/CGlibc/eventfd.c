#include "CGlibc.h"

#include <sys/eventfd.h>

int gb_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
