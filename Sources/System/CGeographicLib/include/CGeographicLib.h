// A small C face on GeographicLib::Geodesic for the WGS 84 ellipsoid.
#ifndef GEOBUCKET_CGEOGRAPHICLIB_H
#define GEOBUCKET_CGEOGRAPHICLIB_H

#ifdef __cplusplus
extern "C" {
#endif

// Metres along the shortest geodesic between two places in degrees; latitudes are -90 ... 90.
double gb_wgs84_distance(
    double latitude_a, double longitude_a, double latitude_b, double longitude_b);

#ifdef __cplusplus
}
#endif
#endif
