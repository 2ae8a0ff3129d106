// The reentrant half of GEOS' C API.
#include <geos_c.h>
