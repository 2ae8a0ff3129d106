// Spellings of positions that GeographicLib reads. Each function is false for what it cannot read.
// Geodesics on the WGS 84 ellipsoid are declared in CGeodesy.
#ifndef GEOBUCKET_CGEOGRAPHICLIB_H
#define GEOBUCKET_CGEOGRAPHICLIB_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Degrees of a position in metres of a zone (1 ... 60) of Universal Transverse Mercator.
bool gb_utm_reverse(
    int zone, bool is_north, double easting, double northing, double *latitude, double *longitude);

// Degrees of the centre of a geohash.
bool gb_geohash_center(const char *text, double *latitude, double *longitude);

// Degrees of an angle such as 48°51'24"N; axis is 1 if it is marked as a latitude, 2 if as a
// longitude, else 0.
bool gb_sexagesimal(const char *text, double *degrees, int *axis);

#ifdef __cplusplus
}
#endif
#endif
