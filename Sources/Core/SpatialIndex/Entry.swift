import CLanes
import Geodesy
import PersistentStructures

/// One point as the index stores it.
///
/// An entry is live while its stamp is the current stamp of its slot. A move or removal changes the
/// slot's stamp, so that older entries in packed trees become dead without being written. A slot
/// with several points has an entry for each, all with the same stamp.
struct Entry: BitwiseCopyable, Sendable {
    let slot: Slot
    var stamp: UInt32
    let latitude: Double
    let longitude: Double
    let vector: FloatVector

    init(slot: Slot, stamp: UInt32, coordinate: Coordinate) {
        self.slot = slot
        self.stamp = stamp
        self.latitude = coordinate.latitude
        self.longitude = coordinate.longitude
        self.vector = FloatVector(Sphere.unitVector(coordinate))
    }

    init(slot: Slot, stamp: UInt32, latitude: Double, longitude: Double, vector: FloatVector) {
        self.slot = slot
        self.stamp = stamp
        self.latitude = latitude
        self.longitude = longitude
        self.vector = vector
    }

    var coordinate: Coordinate { Coordinate(latitude: latitude, longitude: longitude) }
}

/// The number of an epoch, and whether the slot has several points in it.
enum Stamp {
    /// The bit of the entries of a slot with several points.
    static let several: UInt32 = 1 << 31

    /// The last epoch.
    static let lastEpoch = several - 1

    static func epoch(_ stamp: UInt32) -> UInt32 { stamp & ~several }

    static func isOneOfSeveral(_ stamp: UInt32) -> Bool { stamp & several != 0 }
}

/// A vector in single precision. For a unit vector the error is at most `error`.
typealias FloatVector = gb_place

extension FloatVector {
    /// The square root of 3 times 2^-25.
    static let error = 5.2e-8

    init(_ exact: SIMD3<Double>) {
        self.init(x: Float(exact.x), y: Float(exact.y), z: Float(exact.z))
    }

    /// The squared length of the chord between the ends of two unit vectors.
    func squaredChord(to other: FloatVector) -> Float {
        let dx = x - other.x
        let dy = y - other.y
        let dz = z - other.z
        return dx * dx + dy * dy + dz * dz
    }
}
