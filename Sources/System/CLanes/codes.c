// Codes of 64 slots at once.

#include "lanes.h"

typedef _Bool flags64 __attribute__((ext_vector_type(64)));

/// Compares the codes with each of the others in turn.
#define AMONG(type, codes, others, count) \
    do { \
        typedef type vector __attribute__((ext_vector_type(64), aligned(sizeof(type)))); \
        vector present = *(const vector *)(codes); \
        union { flags64 flags; uint64_t bits; } equal; \
        uint64_t found = 0; \
        for (long number = 0; number < (count); number++) { \
            equal.flags = __builtin_convertvector(present == (vector)(others)[number], flags64); \
            found |= equal.bits; \
        } \
        return found; \
    } while (0)

FOR_EACH_PROCESSOR
uint64_t gb_bytes_among(const uint8_t *codes, const uint8_t *others, long count) {
    AMONG(uint8_t, codes, others, count);
}

FOR_EACH_PROCESSOR
uint64_t gb_shorts_among(const uint16_t *codes, const uint16_t *others, long count) {
    AMONG(uint16_t, codes, others, count);
}
