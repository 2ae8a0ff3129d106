#include "CJSONNodes.h"

// Half a cache line: large texts are lists of millions.
_Static_assert(sizeof(gb_json_node) == 32, "a node has grown");
