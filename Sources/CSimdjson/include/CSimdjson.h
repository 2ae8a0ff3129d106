// A small C face on simdjson's On-Demand parser: one strict pass over a JSON text that leaves a flat
// list of nodes, each with its place in the source. Nothing here knows what a document means.
#ifndef GEOBUCKET_CSIMDJSON_H
#define GEOBUCKET_CSIMDJSON_H

#include <stddef.h>
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

typedef enum : int32_t {
    gb_json_ok = 0,
    gb_json_syntax = 1,    // not JSON as RFC 8259 defines it
    gb_json_utf8 = 2,      // not UTF-8
    gb_json_depth = 3,     // nested deeper than gb_json_maximum_depth
    gb_json_memory = 4
} gb_json_error;

// Arrays and objects inside each other: a value at the root has depth 0. Less than simdjson's own 1024,
// and some more than the 1000 of earlier versions, so that what was stored then can be read within an
// answer.
enum { gb_json_maximum_depth = 1010 };

typedef struct gb_json_parser gb_json_parser;

gb_json_parser *gb_json_parser_create(void);
void gb_json_parser_destroy(gb_json_parser *parser);

// Parses one JSON text. The nodes and everything they point to stay valid until the parser's next
// parse. On failure `*error_offset` is the byte offset of the fault, or -1 where it is not known.
gb_json_error gb_json_parse(
    gb_json_parser *parser, const uint8_t *bytes, size_t length, int64_t *error_offset);
const gb_json_node *gb_json_nodes(const gb_json_parser *parser);
const uint8_t *gb_json_source(const gb_json_parser *parser);

// Removes the insignificant white space of a valid JSON text. `destination` has room for
// `length` + gb_json_minify_slack bytes; the number of bytes written is returned.
enum { gb_json_minify_slack = 64 };
size_t gb_json_minify(const uint8_t *bytes, size_t length, uint8_t *destination);

#ifdef __cplusplus
}
#endif
#endif
