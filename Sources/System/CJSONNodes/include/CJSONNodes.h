// What a parser leaves of a JSON text: a flat list of nodes, each with its place in the source. Here
// because parsers in C++ and in Swift make the same list.
#ifndef GEOBUCKET_CJSONNODES_H
#define GEOBUCKET_CJSONNODES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum : uint32_t {
    gb_json_null = 0,
    gb_json_false = 1,
    gb_json_true = 2,
    gb_json_int64 = 3,   // integer literal in -2^63 ... 2^63-1: payload.integer
    gb_json_uint64 = 4,  // integer literal in 2^63 ... 2^64-1: payload.unsigned_integer
    gb_json_double = 5,  // any other number: payload.number, the nearest binary64
    gb_json_huge = 6,    // a number whose nearest binary64 is infinite
    gb_json_string = 7,  // payload.string, `count` bytes, unescaped UTF-8
    gb_json_array = 8,   // `count` elements
    gb_json_object = 9   // `count` members: for each a string node, then the value's nodes
} gb_json_kind;

typedef struct {
    gb_json_kind kind;
    uint32_t next;    // index of the node that follows this value and everything inside it
    uint32_t start;   // byte offset of the value in the source
    uint32_t length;  // bytes of the value in the source, quotes and brackets included (0 for keys)
    uint32_t count;
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double number;
        const uint8_t *string;
    } payload;
} gb_json_node;

// Arrays and objects inside each other: a value at the root has depth 0. Less than simdjson's own 1024,
// and some more than the 1000 of earlier versions, so that what was stored then can be read within an
// answer.
enum { gb_json_maximum_depth = 1010 };

#ifdef __cplusplus
}
#endif
#endif
