// Distances of sixteen balls or strips at once.

#include "lanes.h"

/// The squared distances of points, relative to the middles of segments, from these.
#define SQUARED_DISTANCES(result, dx, dy, dz, ux, uy, uz, half) \
    lanes result; \
    do { \
        lanes ahead = (dx) * (ux) + (dy) * (uy) + (dz) * (uz); \
        ahead = SMALLER(ahead, (half)); \
        ahead = LARGER(ahead, -(half)); \
        lanes besideX = (dx) - ahead * (ux), besideY = (dy) - ahead * (uy); \
        lanes besideZ = (dz) - ahead * (uz); \
        result = besideX * besideX + besideY * besideY + besideZ * besideZ; \
    } while (0)

FOR_EACH_PROCESSOR
uint16_t gb_strips_near(
    const struct gb_strip_group *group, float x, float y, float z, float margin, float more,
    float limit, float *most, float least[16]) {
    const float(*columns)[16] = group->columns;
    lanes dx = x - LOAD(columns[0]), dy = y - LOAD(columns[1]), dz = z - LOAD(columns[2]);
    lanes ux = LOAD(columns[3]), uy = LOAD(columns[4]), uz = LOAD(columns[5]);
    lanes half = LOAD(columns[6]);
    SQUARED_DISTANCES(squared, dx, dy, dz, ux, uy, uz, half);
    lanes distances = __builtin_elementwise_sqrt(squared);
    lanes slack = distances * GB_STRIP_ERROR + (LOAD(columns[7]) + margin);
    lanes nearest = distances - slack;
    float farthest = __builtin_reduce_min(distances + slack);
    if (farthest < *most) *most = farthest;
    float reach = *most + more < limit ? *most + more : limit;
    STORE(least, nearest);
    return BITS(nearest <= reach);
}

FOR_EACH_PROCESSOR
long gb_compare(
    struct gb_candidate *candidates, long count, struct gb_balls balls, float outside,
    float within, float least[16], float most[16], float *leasts, uint16_t *touched,
    uint16_t *inside) {
    lanes x = LOAD(balls.x), y = LOAD(balls.y), z = LOAD(balls.z), radii = LOAD(balls.radii);
    lanes nearest = ALL(__builtin_inff()), farthest = nearest;
    lanes reach = outside + radii;
    lanes limit = reach;
    long near = 0;
    for (long number = 0; number < count; number++) {
        struct gb_strip strip = candidates[number].strip;
        lanes dx = x - strip.x, dy = y - strip.y, dz = z - strip.z;
        lanes half = ALL(strip.half);
        SQUARED_DISTANCES(
            squared, dx, dy, dz, strip.aheadX, strip.aheadY, strip.aheadZ, half);
        lanes distances = __builtin_elementwise_sqrt(squared);
        lanes slack = distances * GB_STRIP_ERROR + strip.stray;
        lanes own = distances - slack;
        if (!BITS(own <= limit)) continue;
        STORE(leasts + 16 * near, own);
        candidates[near] = candidates[number];
        near++;
        nearest = SMALLER(nearest, own);
        farthest = SMALLER(farthest, distances + slack);
        limit = SMALLER(farthest + 2 * radii, reach);
    }
    long kept = 0;
    for (long number = 0; number < near; number++) {
        uint16_t own = BITS(LOAD(leasts + 16 * number) <= limit);
        if (!own) continue;
        candidates[kept] = candidates[number];
        candidates[kept].balls = own;
        kept++;
    }
    STORE(least, nearest);
    STORE(most, farthest);
    *touched = BITS(nearest <= reach);
    *inside = BITS(farthest <= within - radii);
    return kept;
}
