// What Geodesy leaves to libraries. A program that is linked with CGeographicLib and CGEOS has it from
// there; one without, such as an app that makes clauses for a service, is linked with absent.c.
#ifndef GEOBUCKET_CGEODESY_H
#define GEOBUCKET_CGEODESY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Metres along the shortest geodesic on WGS 84 between two places in degrees; latitudes are
// -90 ... 90. Traps where no library has it.
double gb_wgs84_distance(
    double latitude_a, double longitude_a, double latitude_b, double longitude_b);

// Why polygons in the plane are no valid multipolygon.
typedef struct {
    // GEOS' reason, or that there is no library to tell; the caller frees it. NULL if they are valid.
    char *reason;
    // Which polygon, and which of its rings, where the fault is one ring's; otherwise -1.
    int64_t polygon, ring;
} gb_polygon_fault;

// Polygons of rings, the shell first: x and y of all positions one after another, how many positions
// each ring has, how many rings each polygon has, how many polygons there are. None may be empty.
gb_polygon_fault gb_check_polygons(
    const double *positions, const uint32_t *ring_positions, const uint32_t *polygon_rings,
    uint32_t polygons);

// A point in the plane, if there is one.
typedef struct {
    double x, y;
    int32_t is_there;
} gb_point;

// A point on the surface of polygons or lines that are valid, as GEOS chooses it: x and y of all positions one
// after another, how many positions each ring or line has, how many rings each polygon has (NULL for
// lines), how many polygons or lines there are. None where there is no library.
gb_point gb_point_on_surface(
    const double *positions, const uint32_t *run_positions, const uint32_t *polygon_runs,
    uint32_t parts);

#ifdef __cplusplus
}
#endif
#endif
