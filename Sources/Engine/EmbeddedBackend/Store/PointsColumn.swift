import Geodesy
import Objects

/// The format of the `points` column: for each GeoPoint of an object, the number of its field path
/// and its coordinate, in little-endian order.
enum PointsColumn {
    /// The bytes of one point.
    static let pointBytes = 20

    static func encode(_ points: [(field: UInt32, coordinate: Coordinate)]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(points.count * pointBytes)
        for (field, coordinate) in points {
            withUnsafeBytes(of: field.littleEndian) { bytes.append(contentsOf: $0) }
            for degrees in [coordinate.latitude, coordinate.longitude] {
                withUnsafeBytes(of: degrees.bitPattern.littleEndian) {
                    bytes.append(contentsOf: $0)
                }
            }
        }
        return bytes
    }

    /// Calls `body` with each point; returns false if the bytes are not in the format of `encode`.
    static func decode<Failure: Error>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ body: (_ field: UInt32, _ coordinate: Coordinate) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        guard bytes.count % pointBytes == 0 else { return false }
        let raw = UnsafeRawBufferPointer(bytes)
        for offset in stride(from: 0, to: bytes.count, by: pointBytes) {
            let field = UInt32(
                littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let latitude = UInt64(
                littleEndian: raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self))
            let longitude = UInt64(
                littleEndian: raw.loadUnaligned(fromByteOffset: offset + 12, as: UInt64.self))
            guard
                let coordinate = Coordinate(
                    validLatitude: Double(bitPattern: latitude),
                    longitude: Double(bitPattern: longitude))
            else { return false }
            try body(field, coordinate)
        }
        return true
    }
}
