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
