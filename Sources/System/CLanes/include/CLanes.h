#ifndef CLANES_H
#define CLANES_H

#include <stddef.h>
#include <stdint.h>

/// A straight segment in space, and how far a part of a line strays from it; see `Strip` in Geodesy.
struct gb_strip {
    float x, y, z;
    float aheadX, aheadY, aheadZ;
    float half;
    float stray;
};

/// A strip that may have the nearest place to something.
struct gb_candidate {
    struct gb_strip strip;
    /// What it covers.
    uint32_t part;
    /// The balls of the group that it matters to: bit i is ball i.
    uint16_t balls;
};

/// Sixteen strips side by side, eight columns in the order of `gb_strip`.
struct gb_strip_group {
    float columns[8][16];
};

/// Sixteen balls in space: their centres and radii, sixteen numbers each.
struct gb_balls {
    const float *x, *y, *z, *radii;
};

/// A distance is computed within this share of it; `Strip` has the proof.
#define GB_STRIP_ERROR 2e-6f

/// Measures how far a point is from sixteen strips, at least, into `least`, and lowers `most` to what
/// one of them is at most; both with a margin.
///
/// Returns the strips that are no farther than `most` and `more`, and no farther than `limit`.
uint16_t gb_strips_near(
    const struct gb_strip_group *group, float x, float y, float z, float margin, float more,
    float limit, float *most, float least[16]);

/// Compares candidates with sixteen balls, and keeps those that may have the nearest place to
/// something in one of them, if that is no farther than `outside`.
///
/// `least` and `most` become the distances of the line from the centres, `touched` the balls that may
/// reach it within `outside`, `inside` those that are within `inside` as a whole. `leasts` is memory
/// for sixteen numbers a candidate. Returns how many are kept, in their order.
long gb_compare(
    struct gb_candidate *candidates, long count, struct gb_balls balls, float outside,
    float within, float least[16], float most[16], float *leasts, uint16_t *touched,
    uint16_t *inside);

/// A place in space.
struct gb_place {
    float x, y, z;
};

/// Of sixteen boxes or points, bit i is number i: those that may lie in a region, at least in part, and
/// those that certainly and wholly do.
struct gb_lanes {
    uint16_t touched, inside;
};

/// The boxes whose nearest corners are within a squared chord of a place, and those whose farthest
/// corners are within another.
///
/// `boxes` are six columns of sixteen numbers: the lower ends by axis, then the upper ends.
struct gb_lanes gb_boxes_within(
    const float *boxes, struct gb_place place, float outside, float inside);

/// The points within a squared chord of a place, and those within another.
///
/// `points` are three columns of sixteen numbers, by axis.
struct gb_lanes gb_points_within(
    const float *points, struct gb_place place, float outside, float inside);

/// The squared chords to the nearest and to the farthest corners of boxes.
void gb_box_chords(
    const float *boxes, struct gb_place place, float nearest[16], float farthest[16]);

/// The squared chords to points.
void gb_point_chords(const float *points, struct gb_place place, float chords[16]);

/// Which of 64 codes are among some others: bit i is code i.
uint64_t gb_bytes_among(const uint8_t *codes, const uint8_t *others, long count);
uint64_t gb_shorts_among(const uint16_t *codes, const uint16_t *others, long count);

/// memmem(3), which C libraries declare to some sources alone, and so not to Swift: the first occurrence of
/// `part` in `bytes`, or NULL; linear time.
const void *gb_memmem(const void *bytes, size_t count, const void *part, size_t part_count);

#endif
