// The reentrant half of GEOS' C API, and what versions before 3.12 lack of it.
#include <geos_c.h>

// Whether a prepared geometry and a point have anything in common: 1, 0, or 2 on an exception.
static inline char gb_geos_prepared_intersects_xy(
    GEOSContextHandle_t context, const GEOSPreparedGeometry *prepared, double x, double y) {
#if GEOS_VERSION_MAJOR > 3 || (GEOS_VERSION_MAJOR == 3 && GEOS_VERSION_MINOR >= 12)
    return GEOSPreparedIntersectsXY_r(context, prepared, x, y);
#else
    GEOSGeometry *point = GEOSGeom_createPointFromXY_r(context, x, y);
    if (!point) return 2;
    char answer = GEOSPreparedIntersects_r(context, prepared, point);
    GEOSGeom_destroy_r(context, point);
    return answer;
#endif
}
