import Geodesy
import JSONText
import Objects
import QueryLanguage

/// A field's value before it is stored in a column.
package struct ColumnValue: Sendable {
    /// The cell of a value that needs no dictionary.
    let cell: Cell
    /// The kind of a value that needs the dictionary; otherwise nil.
    let kind: Cell.Coded?
    private(set) var bytes: [UInt8]

    /// - Parameter view: nil if the object lacks the field.
    package init(_ view: JSONView?) {
        switch view?.kind {
        case nil: self.init(cell: .missing)
        case .null: self.init(cell: .null)
        case .bool: self.init(cell: Cell(view!.bool!))
        case .number: self.init(view!.number!)
        case .string: self.init(kind: .string, bytes: Array(view!.utf8!))
        case .array: self.init(cell: .array)
        case .object:
            if let position = GeoPoint.coordinate(of: view!) {
                self.init(position)
            } else {
                self.init(cell: .object)
            }
        case .huge: self.init(cell: .unknown)
        }
    }

    init(_ literal: Literal) {
        switch literal {
        case .null: self.init(cell: .null)
        case .bool(let bool): self.init(cell: Cell(bool))
        case .number(let number): self.init(number)
        case .string(let utf8): self.init(kind: .string, bytes: utf8)
        case .point(let position): self.init(position)
        }
    }

    private init(_ number: JSONNumber) {
        let (floor, rest) = number.floored
        guard rest > 0 else {
            self.init(cell: Cell(floor))
            return
        }
        self.init(kind: .number)
        append(bigEndian: floor.ordered)
        append(bigEndian: rest)
    }

    private init(_ position: Coordinate) {
        self.init(kind: .point)
        append(bigEndian: position.latitude.ordered)
        append(bigEndian: position.canonicalLongitude.ordered)
    }

    private init(cell: Cell = .missing, kind: Cell.Coded? = nil, bytes: [UInt8] = []) {
        self.cell = cell
        self.kind = kind
        self.bytes = bytes
    }

    private mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
