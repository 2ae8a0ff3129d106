// Squared chords from a place to sixteen boxes or points at once.

#include "lanes.h"

/// From a place to the nearest and the farthest corners of boxes. The distance along one axis is that
/// to the interval, and to its farther end.
#define BOX_CHORDS(nearest, farthest, boxes, place) \
    lanes nearest, farthest; \
    do { \
        lanes belowX = LOAD(boxes) - (place).x, aboveX = (place).x - LOAD((boxes) + 48); \
        lanes belowY = LOAD((boxes) + 16) - (place).y, aboveY = (place).y - LOAD((boxes) + 64); \
        lanes belowZ = LOAD((boxes) + 32) - (place).z, aboveZ = (place).z - LOAD((boxes) + 80); \
        lanes nearX = LARGER(LARGER(belowX, aboveX), ALL(0)); \
        lanes nearY = LARGER(LARGER(belowY, aboveY), ALL(0)); \
        lanes nearZ = LARGER(LARGER(belowZ, aboveZ), ALL(0)); \
        lanes farX = LARGER(-belowX, -aboveX), farY = LARGER(-belowY, -aboveY); \
        lanes farZ = LARGER(-belowZ, -aboveZ); \
        nearest = nearX * nearX + nearY * nearY + nearZ * nearZ; \
        farthest = farX * farX + farY * farY + farZ * farZ; \
    } while (0)

/// From a place to points.
#define POINT_CHORDS(chords, points, place) \
    lanes chords; \
    do { \
        lanes dx = LOAD(points) - (place).x, dy = LOAD((points) + 16) - (place).y; \
        lanes dz = LOAD((points) + 32) - (place).z; \
        chords = dx * dx + dy * dy + dz * dz; \
    } while (0)

FOR_EACH_PROCESSOR
struct gb_lanes gb_boxes_within(
    const float *boxes, struct gb_place place, float outside, float inside) {
    BOX_CHORDS(nearest, farthest, boxes, place);
    return (struct gb_lanes){BITS(nearest <= outside), BITS(farthest <= inside)};
}

FOR_EACH_PROCESSOR
struct gb_lanes gb_points_within(
    const float *points, struct gb_place place, float outside, float inside) {
    POINT_CHORDS(chords, points, place);
    return (struct gb_lanes){BITS(chords <= outside), BITS(chords <= inside)};
}

FOR_EACH_PROCESSOR
void gb_box_chords(
    const float *boxes, struct gb_place place, float nearest[16], float farthest[16]) {
    BOX_CHORDS(near, far, boxes, place);
    STORE(nearest, near);
    STORE(farthest, far);
}

FOR_EACH_PROCESSOR
void gb_point_chords(const float *points, struct gb_place place, float chords[16]) {
    POINT_CHORDS(all, points, place);
    STORE(chords, all);
}
