// The reentrant half of GEOS' C API. What Geodesy asks GEOS for is declared in CGeodesy.
#include <geos_c.h>
