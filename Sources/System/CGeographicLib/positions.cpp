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

// An angle has degrees, minutes and seconds. GeographicLib writes a fourth number behind the array
// in which it keeps them.
static bool has_at_most_three_numbers(const char *text) {
    int count = 0;
    bool is_inside = false;
    for (const char *c = text; *c != 0; ++c) {
        bool is_digit = (*c >= '0' && *c <= '9') || *c == '.';
        if (is_digit && !is_inside) ++count;
        is_inside = is_digit;
    }
    return count <= 3;
}

bool gb_sexagesimal(const char *text, double *degrees, int *axis) {
    if (!has_at_most_three_numbers(text)) return false;
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
