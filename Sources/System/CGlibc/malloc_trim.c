#include "CGlibc.h"

#include <malloc.h>

void gb_malloc_trim(void) { (void)malloc_trim(0); }
