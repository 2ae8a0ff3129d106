// A small C face on simdjson's On-Demand parser: one strict pass over a JSON text that leaves a flat
// list of nodes, each with its place in the source. Nothing here knows what a document means.
#ifndef GEOBUCKET_CSIMDJSON_H
#define GEOBUCKET_CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#include "CJSONNodes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum : int32_t {
    gb_json_ok = 0,
    gb_json_syntax = 1,    // not JSON as RFC 8259 defines it
    gb_json_utf8 = 2,      // not UTF-8
    gb_json_depth = 3,     // nested deeper than gb_json_maximum_depth
    gb_json_memory = 4
} gb_json_error;

typedef struct gb_json_parser gb_json_parser;

gb_json_parser *gb_json_parser_create(void);
void gb_json_parser_destroy(gb_json_parser *parser);

// Parses one JSON text. The nodes and everything they point to stay valid until the parser's next
// parse. On failure `*error_offset` is the byte offset of the fault, or -1 where it is not known.
gb_json_error gb_json_parse(
    gb_json_parser *parser, const uint8_t *bytes, size_t length, int64_t *error_offset);
const gb_json_node *gb_json_nodes(const gb_json_parser *parser);
const uint8_t *gb_json_source(const gb_json_parser *parser);

// The bytes of the buffers that a parser keeps, which grow with the longest text.
size_t gb_json_buffer_bytes(const gb_json_parser *parser);

// Removes the insignificant white space of a valid JSON text. `destination` has room for
// `length` + gb_json_minify_slack bytes; the number of bytes written is returned.
enum { gb_json_minify_slack = 64 };
size_t gb_json_minify(const uint8_t *bytes, size_t length, uint8_t *destination);

#ifdef __cplusplus
}
#endif
#endif
