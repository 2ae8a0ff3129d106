import Objects

/// Converts the cells of one record to the JSON text of an object.
///
/// Quotes around a cell do not determine its type. A cell that is exactly a JSON number becomes
/// one, `true` and `false` in any case become booleans, an empty cell becomes no field, and any
/// other cell becomes a string.
struct CSVRecordBuilder {
    private let header: CSVHeader
    private let limits: Limits
    private var output: [UInt8] = []
    private var unescaped: [UInt8] = []
    /// Bytes of the `_id` member with its comma; they do not count against the limit.
    private var idBytes = 0
    private var idIsFirst = false

    init(header: CSVHeader, limits: Limits) {
        self.header = header
        self.limits = limits
    }

    /// - Parameter record: the bytes to which the cells' ranges refer.
    mutating func object(
        _ cells: [CSVScanner.Cell], of record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) -> [UInt8] {
        guard cells.count == header.columns.count else {
            throw RecordError(
                "expected \(header.columns.count) cells as in the header, found \(cells.count)")
        }
        guard Self.isUTF8(record) else { throw RecordError("the text is not valid UTF-8") }
        output = []
        output.reserveCapacity(record.count * 2 + 128)
        output.append(UInt8(ascii: "{"))
        idBytes = 0
        idIsFirst = false
        for index in cells.indices { try append(index, cells, record) }
        output.append(UInt8(ascii: "}"))
        // A leading `_id` is followed by its comma, if any member follows.
        if idIsFirst, output.count > idBytes + 2 { idBytes += 1 }
        if let excess = limits.documentSize.excess(of: output, uncounted: idBytes) {
            throw RecordError(excess)
        }
        return output
    }

    private mutating func append(
        _ index: Int, _ cells: [CSVScanner.Cell], _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) {
        switch header.columns[index].role {
        case .otherHalf: return
        case .point(let point): try appendPoint(header.points[point], cells, record)
        case .id:
            guard !cells[index].range.isEmpty else { return }
            let id = cells[index].text(in: record)
            try RecordValidator.checkID(id)
            let before = output.count
            appendKey(Self.idKey)
            JSONSpelling.appendString(id, to: &output)
            idBytes = output.count - before
            idIsFirst = before == 1
        case .field:
            let cell = cells[index]
            if cell.range.isEmpty { return }
            try checkAlone(header.columns[index], cells)
            appendKey(header.columns[index].key)
            let bytes = UnsafeBufferPointer(rebasing: record[cell.range])
            if cell.hasDoubledQuotes {
                unescape(bytes)
                unescaped.withUnsafeBufferPointer { JSONSpelling.appendString($0, to: &output) }
            } else {
                Self.appendValue(bytes, to: &output)
            }
        }
    }

    /// Refuses a value beside a point of the same name.
    private func checkAlone(
        _ column: CSVHeader.Column, _ cells: [CSVScanner.Cell]
    ) throws(RecordError) {
        guard let point = column.rival.map({ header.points[$0] }) else { return }
        let halves = [point.latitude, point.longitude]
        guard halves.allSatisfy({ cells[$0].range.isEmpty }) else {
            let names = halves.map { quoted(header.columns[$0].name) }.joined(separator: " and ")
            throw RecordError(
                "the record has this value and a point in \(names)", path: column.name)
        }
    }

    private static let idKey = Array("\"_id\":".utf8)

    private mutating func appendKey(_ key: [UInt8]) {
        if output.count > 1 { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: key)
    }

    private static func appendValue(
        _ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]
    ) {
        if JSONSpelling.isNumber(bytes) {
            output.append(contentsOf: bytes)
        } else if let bool = JSONSpelling.bool(bytes) {
            output.append(contentsOf: bool ? "true".utf8 : "false".utf8)
        } else {
            JSONSpelling.appendString(bytes, to: &output)
        }
    }

    private mutating func appendPoint(
        _ point: CSVHeader.Point, _ cells: [CSVScanner.Cell], _ record: UnsafeBufferPointer<UInt8>
    ) throws(RecordError) {
        let latitude = UnsafeBufferPointer(rebasing: record[cells[point.latitude].range]).trimmed
        let longitude = UnsafeBufferPointer(rebasing: record[cells[point.longitude].range]).trimmed
        if latitude.isEmpty && longitude.isEmpty { return }
        try checkDegrees(latitude, 90, column: point.latitude, hasOther: !longitude.isEmpty)
        try checkDegrees(longitude, 180, column: point.longitude, hasOther: !latitude.isEmpty)
        appendKey(point.key)
        output.append(contentsOf: "{\"_type\":\"point\",\"lat\":".utf8)
        output.append(contentsOf: latitude)
        output.append(contentsOf: ",\"lon\":".utf8)
        output.append(contentsOf: longitude)
        output.append(UInt8(ascii: "}"))
    }

    private func checkDegrees(
        _ cell: UnsafeBufferPointer<UInt8>, _ bound: Double, column: Int, hasOther: Bool
    ) throws(RecordError) {
        let name = header.columns[column].name
        guard !cell.isEmpty else {
            throw RecordError("half a point: the cell is empty, its other half is not", path: name)
        }
        guard JSONSpelling.isNumber(cell), let degrees = Double(cell.text) else {
            throw RecordError("\(quoted(cell.text)) is no number of degrees", path: name)
        }
        guard abs(degrees) <= bound else {
            throw RecordError(
                "\(cell.text) is outside -\(Int(bound))...\(Int(bound)) degrees", path: name)
        }
    }

    /// Replaces doubled quotes by single ones.
    private mutating func unescape(_ bytes: UnsafeBufferPointer<UInt8>) {
        unescaped.removeAll(keepingCapacity: true)
        var at = 0
        while at < bytes.count {
            unescaped.append(bytes[at])
            at += bytes[at] == UInt8(ascii: "\"") ? 2 : 1
        }
    }

    static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        return all < 0x80 || String(validating: bytes, as: UTF8.self) != nil
    }
}
