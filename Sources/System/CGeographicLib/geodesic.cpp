#include "CGeodesy.h"

#include <GeographicLib/Geodesic.hpp>

double gb_wgs84_distance(
    double latitude_a, double longitude_a, double latitude_b, double longitude_b) {
    double meters;
    GeographicLib::Geodesic::WGS84().Inverse(
        latitude_a, longitude_a, latitude_b, longitude_b, meters);
    return meters;
}
