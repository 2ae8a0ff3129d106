import Geodesy
import JSONText
import Objects

/// The text of one value in a table.
struct TableCell {
    let text: String
    /// Numbers and lengths are aligned to the right.
    let isNumber: Bool

    static let empty = TableCell(text: "", isNumber: false)

    init(text: String, isNumber: Bool) {
        self.text = text
        self.isNumber = isNumber
    }

    /// Empty for a missing value and for null; a GeoPoint as `LAT, LON`; an array or another object
    /// as JSON.
    init(_ value: JSONView?) {
        guard let value, value.kind != .null else {
            self = .empty
            return
        }
        isNumber = value.kind == .number
        if let string = value.string {
            text = Self.printable(string)
        } else if GeoPoint.coordinate(of: value) != nil, let lat = value["lat"],
            let lon = value["lon"]
        {
            text = "\(lat.text.text), \(lon.text.text)"
        } else {
            text = Self.printable(value.text.text)
        }
    }

    /// A length: `523.4 m`, and from one kilometre on `14.4 km`; at most 1e15 m.
    init(meters: Double) {
        // Avoids showing 1000.0 m.
        let isShort = meters < 999.95
        text = isShort ? "\(Self.tenths(meters)) m" : "\(Self.tenths(meters / 1_000)) km"
        isNumber = true
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The text on one line, without characters that control a terminal.
    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                result.append(scalar.properties.isWhitespace ? " " : "\u{FFFD}")
            default: result.append(isDirectionControl(scalar) ? "\u{FFFD}" : scalar)
            }
        }
        return String(result)
    }

    /// Whether the character could reverse the direction of the rest of the line.
    private static func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}
