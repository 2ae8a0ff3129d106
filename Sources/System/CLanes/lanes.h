// Sixteen numbers at once, by whatever instructions the processor has. Swift has no way to say that a
// function is to be compiled for several processors.

#include "CLanes.h"

#if defined(__x86_64__) && defined(__linux__) && !__has_feature(address_sanitizer) \
    && !__has_feature(thread_sanitizer)
#define FOR_EACH_PROCESSOR \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

typedef float lanes __attribute__((ext_vector_type(16)));
typedef float numbers_at __attribute__((ext_vector_type(16), aligned(4)));
typedef _Bool flags __attribute__((ext_vector_type(16)));

// Macros, as a function that takes or returns lanes would have to be of one processor.
#define LOAD(floats) (*(const numbers_at *)(floats))
#define STORE(floats, lanes) (*(numbers_at *)(floats) = (lanes))
#define ALL(value) ((lanes)(float)(value))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

/// Bit i is lane i.
#define BITS(mask) \
    (((union { flags flags; uint16_t bits; }){__builtin_convertvector((mask), flags)}).bits)
