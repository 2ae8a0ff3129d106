// What a program has that is linked with neither GeographicLib nor GEOS: any other definition counts
// over a weak one.
#include "CGeodesy.h"

#include <string.h>

__attribute__((weak)) double gb_wgs84_distance(
    double latitude_a, double longitude_a, double latitude_b, double longitude_b) {
    __builtin_trap();
}

__attribute__((weak)) gb_polygon_fault gb_check_polygons(
    const double *positions, const uint32_t *ring_positions, const uint32_t *polygon_rings,
    uint32_t polygons) {
    return (gb_polygon_fault){strdup("without GEOS nobody can tell"), -1, -1};
}

__attribute__((weak)) gb_point gb_point_on_surface(
    const double *positions, const uint32_t *run_positions, const uint32_t *polygon_runs,
    uint32_t parts) {
    return (gb_point){0, 0, 0};
}
