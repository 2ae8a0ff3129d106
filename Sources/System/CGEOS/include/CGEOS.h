// The reentrant half of GEOS' C API, and what Geodesy asks GEOS for.
#include <geos_c.h>

#include "CGeodesy.h"
