// What GEOS tells of polygons and lines in the plane: whether polygons are a valid multipolygon, and a
// point on the surface.
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

// A multipolygon of so many polygons; NULL, with what is at fault, if one of them is none.
static GEOSGeometry *make_polygons(
    GEOSContextHandle_t context, const double *positions, const uint32_t *ring_positions,
    const uint32_t *polygon_rings, uint32_t polygons, gb_polygon_fault *fault) {
    GEOSGeometry **parts = malloc(polygons * sizeof *parts);
    GEOSGeometry *geometry = NULL;
    uint32_t made = 0;
    for (; made < polygons; made++) {
        uint32_t rings = polygon_rings[made];
        parts[made] = make_polygon(context, positions, ring_positions, rings, &fault->ring);
        if (parts[made] == NULL) break;
        for (uint32_t ring = 0; ring < rings; ring++) positions += 2 * (size_t)ring_positions[ring];
        ring_positions += rings;
    }
    if (made == polygons) {
        geometry = GEOSGeom_createCollection_r(context, GEOS_MULTIPOLYGON, parts, polygons);
    } else {
        fault->polygon = made;
        while (made > 0) GEOSGeom_destroy_r(context, parts[--made]);
    }
    free(parts);
    return geometry;
}

// A multiline of so many lines.
static GEOSGeometry *make_lines(
    GEOSContextHandle_t context, const double *positions, const uint32_t *line_positions,
    uint32_t lines) {
    GEOSGeometry **parts = malloc(lines * sizeof *parts);
    for (uint32_t line = 0; line < lines; line++) {
        parts[line] = GEOSGeom_createLineString_r(
            context,
            GEOSCoordSeq_copyFromBuffer_r(context, positions, line_positions[line], 0, 0));
        positions += 2 * (size_t)line_positions[line];
    }
    GEOSGeometry *geometry =
        GEOSGeom_createCollection_r(context, GEOS_MULTILINESTRING, parts, lines);
    free(parts);
    return geometry;
}

gb_polygon_fault gb_check_polygons(
    const double *positions, const uint32_t *ring_positions, const uint32_t *polygon_rings,
    uint32_t polygons) {
    gb_polygon_fault result = {NULL, -1, -1};
    char *fault = strdup("an exception of GEOS");
    GEOSContextHandle_t context = GEOS_init_r();
    GEOSContext_setErrorMessageHandler_r(context, keep, &fault);
    GEOSGeometry *geometry =
        make_polygons(context, positions, ring_positions, polygon_rings, polygons, &result);
    if (geometry != NULL) {
        result.reason = invalidity(context, geometry, &fault);
        GEOSGeom_destroy_r(context, geometry);
    } else {
        result.reason = strdup(fault);
    }
    GEOS_finish_r(context);
    free(fault);
    return result;
}

gb_point gb_point_on_surface(
    const double *positions, const uint32_t *run_positions, const uint32_t *polygon_runs,
    uint32_t parts) {
    gb_point result = {0, 0, 0};
    gb_polygon_fault fault = {NULL, -1, -1};
    GEOSContextHandle_t context = GEOS_init_r();
    GEOSGeometry *geometry =
        polygon_runs == NULL
            ? make_lines(context, positions, run_positions, parts)
            : make_polygons(context, positions, run_positions, polygon_runs, parts, &fault);
    GEOSGeometry *point = geometry == NULL ? NULL : GEOSPointOnSurface_r(context, geometry);
    result.is_there = point != NULL && GEOSisEmpty_r(context, point) == 0
        && GEOSGeomGetX_r(context, point, &result.x) == 1
        && GEOSGeomGetY_r(context, point, &result.y) == 1;
    GEOSGeom_destroy_r(context, point);
    GEOSGeom_destroy_r(context, geometry);
    GEOS_finish_r(context);
    return result;
}
