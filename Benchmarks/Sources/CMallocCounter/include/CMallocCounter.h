// Counts the allocations of the process it is linked into, exactly.
#ifndef GEOBUCKET_CMALLOCCOUNTER_H
#define GEOBUCKET_CMALLOCCOUNTER_H

// Calls of malloc, calloc, realloc and their aligned kin since the program began.
unsigned long long gb_allocations(void);

// The bytes that are allocated now, as malloc counts them.
unsigned long long gb_allocated_bytes(void);

#endif
