#include "CGeographicLib.h"

#include <GeographicLib/DMS.hpp>
#include <GeographicLib/Geohash.hpp>
#include <GeographicLib/UTMUPS.hpp>

#include <string>

bool gb_utm_reverse(
    int zone, bool is_north, double easting, double northing, double *latitude, double *longitude) {
    try {
        double convergence, scale;
        GeographicLib::UTMUPS::Reverse(
            zone, is_north, easting, northing, *latitude, *longitude, convergence, scale, false);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

bool gb_geohash_center(const char *text, double *latitude, double *longitude) {
    try {
        int length;
        GeographicLib::Geohash::Reverse(text, *latitude, *longitude, length, true);
        return length > 0;
    } catch (const std::exception &) {
        return false;
    }
}

bool gb_sexagesimal(const char *text, double *degrees, int *axis) {
    try {
        GeographicLib::DMS::flag flag;
        *degrees = GeographicLib::DMS::Decode(text, flag);
        *axis = flag == GeographicLib::DMS::LATITUDE    ? 1
                : flag == GeographicLib::DMS::LONGITUDE ? 2
                                                        : 0;
        return true;
    } catch (const std::exception &) {
        return false;
    }
}
