import Glibc
import SyntheticData

/// Positions from a text: one `LATITUDE,LONGITUDE` in degrees a line. Empty lines, lines that begin
/// with `#`, and further columns are ignored.
public enum Centers {
    /// - Throws: `LoadFailure` that names the line at fault.
    public static func parse(_ text: [UInt8]) throws(LoadFailure) -> [MicroPoint] {
        var positions: [MicroPoint] = []
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let text = String(decoding: line, as: UTF8.self)
            let plain = text.filter { !$0.isWhitespace }
            guard !plain.isEmpty, plain.first != "#" else { continue }
            let cells = plain.split(separator: ",", omittingEmptySubsequences: false)
            guard cells.count >= 2, let latitude = Double(cells[0]),
                let longitude = Double(cells[1]),
                (-90...90).contains(latitude), (-180...180).contains(longitude)
            else { throw LoadFailure("line \(number) is no LATITUDE,LONGITUDE: \(text)") }
            positions.append(MicroPoint(latitude: latitude, longitude: longitude))
        }
        guard !positions.isEmpty else { throw LoadFailure("there is no place in it") }
        return positions
    }
}
