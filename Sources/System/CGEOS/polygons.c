// Whether polygons in the plane are a valid multipolygon, told by GEOS.
#include "CGeodesy.h"

#include <geos_c.h>
#include <stdlib.h>
#include <string.h>

// Keeps the last message of a context. "IllegalArgumentException: Points of ...": the kind of exception
// says no more.
static void keep(const char *message, void *fault) {
    const char *text = strstr(message, ": ");
    free(*(char **)fault);
    *(char **)fault = strdup(text != NULL && text[2] != '\0' ? text + 2 : message);
}

// A polygon of so many rings; NULL, with the number of the ring at fault, if one is none.
static GEOSGeometry *make_polygon(
    GEOSContextHandle_t context, const double *positions, const uint32_t *sizes, uint32_t count,
    int64_t *fault) {
    GEOSGeometry **rings = malloc(count * sizeof *rings);
    GEOSGeometry *polygon = NULL;
    uint32_t made = 0;
    for (; made < count; made++) {
        GEOSCoordSequence *sequence =
            GEOSCoordSeq_copyFromBuffer_r(context, positions, sizes[made], 0, 0);
        // GEOS frees the sequence of a ring that it refuses.
        rings[made] = GEOSGeom_createLinearRing_r(context, sequence);
        if (rings[made] == NULL) break;
        positions += 2 * (size_t)sizes[made];
    }
    if (made == count) {
        polygon = GEOSGeom_createPolygon_r(context, rings[0], rings + 1, count - 1);
    } else {
        *fault = made;
        while (made > 0) GEOSGeom_destroy_r(context, rings[--made]);
    }
    free(rings);
    return polygon;
}

// Why a geometry is not valid, for the caller to free; NULL if it is.
static char *invalidity(GEOSContextHandle_t context, const GEOSGeometry *geometry, char **fault) {
    if (GEOSisValid_r(context, geometry) == 1) return NULL;
    char *reason = GEOSisValidReason_r(context, geometry);
    if (reason == NULL) return strdup(*fault);
    char *copy = strdup(reason);
    GEOSFree_r(context, reason);
    return copy;
}

gb_polygon_fault gb_check_polygons(
    const double *positions, const uint32_t *ring_positions, const uint32_t *polygon_rings,
    uint32_t polygons) {
    gb_polygon_fault result = {NULL, -1, -1};
    char *fault = strdup("an exception of GEOS");
    GEOSContextHandle_t context = GEOS_init_r();
    GEOSContext_setErrorMessageHandler_r(context, keep, &fault);
    GEOSGeometry **parts = malloc(polygons * sizeof *parts);
    uint32_t made = 0;
    for (; made < polygons; made++) {
        uint32_t rings = polygon_rings[made];
        parts[made] = make_polygon(context, positions, ring_positions, rings, &result.ring);
        if (parts[made] == NULL) break;
        for (uint32_t ring = 0; ring < rings; ring++) positions += 2 * (size_t)ring_positions[ring];
        ring_positions += rings;
    }
    if (made == polygons) {
        GEOSGeometry *geometry =
            GEOSGeom_createCollection_r(context, GEOS_MULTIPOLYGON, parts, polygons);
        result.reason = invalidity(context, geometry, &fault);
        GEOSGeom_destroy_r(context, geometry);
    } else {
        result.reason = strdup(fault);
        result.polygon = made;
        while (made > 0) GEOSGeom_destroy_r(context, parts[--made]);
    }
    free(parts);
    GEOS_finish_r(context);
    free(fault);
    return result;
}
