import Geodesy
import JSONText
import Objects

/// A field's value on its way into a column.
struct ColumnValue: Sendable {
    /// The cell of a value that needs no dictionary.
    let cell: Cell
    /// What is to be looked up in the dictionary, where it does.
    let kind: Cell.Coded?
    private(set) var bytes: [UInt8]

    /// - Parameter view: nil where an object lacks the field.
    init(_ view: JSONView?) {
        switch view?.kind {
        case nil: self.init(cell: .missing)
        case .null: self.init(cell: .null)
        case .bool: self.init(cell: Cell(view!.bool!))
        case .number: self.init(view!.number!)
        case .string: self.init(kind: .string, bytes: Array(view!.utf8!))
        case .array: self.init(cell: .array)
        case .object:
            if let place = GeoPoint.coordinate(of: view!) {
                self.init(place)
            } else {
                self.init(cell: .object)
            }
        case .huge: self.init(cell: .unknown)
        }
    }

    init(_ number: JSONNumber) {
        let (floor, rest) = number.floored
        guard rest > 0 else {
            self.init(cell: Cell(floor))
            return
        }
        self.init(kind: .number)
        append(bigEndian: floor.ordered)
        bytes += [UInt8(rest >> 8), UInt8(rest & 255)]
    }

    init(_ place: Coordinate) {
        self.init(kind: .point)
        append(bigEndian: place.latitude.ordered)
        append(bigEndian: place.canonicalLongitude.ordered)
    }

    private init(cell: Cell = .missing, kind: Cell.Coded? = nil, bytes: [UInt8] = []) {
        self.cell = cell
        self.kind = kind
        self.bytes = bytes
    }

    private mutating func append(bigEndian value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
