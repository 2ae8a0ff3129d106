import JSONText

/// The binary form, `bplist00`. A table of offsets locates the values, which are read on demand.
///
/// No number in the file is trusted: sizes, counts and offsets are checked against the available
/// bytes before anything is allocated.
struct BinaryPropertyList: Sendable {
    static let magic = Array("bplist0".utf8)

    let root: Int
    private let bytes: [UInt8]
    private let count: Int
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let table: Int

    init(_ bytes: [UInt8]) throws(ArchiveFailure) {
        let trailer = bytes.count - 32
        guard trailer > 8 else { throw ArchiveFailure("the binary property list is cut off") }
        self.bytes = bytes
        offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes),
            let count = Self.index(bytes, trailer + 8, 8),
            let root = Self.index(bytes, trailer + 16, 8),
            let table = Self.index(bytes, trailer + 24, 8),
            table > 8, table < trailer, count > 0, count <= (trailer - table) / offsetBytes,
            root < count
        else {
            throw ArchiveFailure("the trailer of the binary property list makes no sense")
        }
        (self.count, self.root, self.table) = (count, root, table)
    }

    /// - Parameter budget: elements that a container may have.
    func value(at index: Int, budget: Int) throws(ArchiveFailure) -> PropertyList.Value {
        guard index < count,
            let offset = Self.index(bytes, table + index * offsetBytes, offsetBytes),
            offset >= 8, offset < table
        else { throw Self.fault(index, "has no place in the file") }
        let marker = bytes[offset]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 0x0:
            switch low {
            case 0: return .null
            case 8: return .bool(false)
            case 9: return .bool(true)
            default: throw Self.fault(index, "has an unknown type")
            }
        case 0x1: return .number(try integer(offset + 1, 1 << min(low, 5), index))
        case 0x2: return .number(.decimal(try real(offset + 1, 1 << min(low, 4), index)))
        case 0x3: return .date(try real(offset + 1, 8, index))
        case 0x4: return .data(Array(try payload(offset, low, 1, index)))
        case 0x5, 0x7:
            return .string(String(decoding: try payload(offset, low, 1, index), as: UTF8.self))
        case 0x6:
            let units = try payload(offset, low, 2, index)
            let start = units.startIndex
            return .string(
                String(
                    decoding: (0..<units.count / 2).map {
                        UInt16(units[start + 2 * $0]) << 8 | UInt16(units[start + 2 * $0 + 1])
                    }, as: UTF16.self))
        case 0x8:
            guard offset + 1 + low < table, let uid = Self.index(bytes, offset + 1, low + 1) else {
                throw Self.fault(index, "is a reference that makes no sense")
            }
            return .uid(uid)
        case 0xA, 0xB, 0xC:
            return .array(try references(payload(offset, low, referenceBytes, index), budget))
        case 0xD:
            let all = try references(payload(offset, low, 2 * referenceBytes, index), budget)
            let half = all.count / 2
            return .dictionary((0..<half).map { (all[$0], all[half + $0]) })
        default: throw Self.fault(index, "has an unknown type")
        }
    }

    /// The bytes behind a marker and its count.
    private func payload(
        _ offset: Int, _ low: Int, _ unit: Int, _ index: Int
    ) throws(ArchiveFailure) -> ArraySlice<UInt8> {
        var (start, length) = (offset + 1, low)
        if low == 15 {
            let size = start < table && bytes[start] >> 4 == 1 ? 1 << Int(bytes[start] & 15) : 0
            guard (1...8).contains(size), start + 1 + size <= table,
                let count = Self.index(bytes, start + 1, size)
            else { throw Self.fault(index, "has a length that makes no sense") }
            (start, length) = (start + 1 + size, count)
        }
        guard length <= (table - start) / unit else {
            throw Self.fault(index, "is longer than the file")
        }
        return bytes[start..<start + length * unit]
    }

    private func references(
        _ payload: ArraySlice<UInt8>, _ budget: Int
    ) throws(ArchiveFailure) -> [Int] {
        let count = payload.count / referenceBytes
        guard count <= budget else { throw PropertyList.overBudget }
        return (0..<count).map {
            Self.index(bytes, payload.startIndex + $0 * referenceBytes, referenceBytes) ?? .max
        }
    }

    /// Integers of 1, 2 and 4 bytes are unsigned, those of 8 signed; 16 bytes hold values beyond
    /// `Int64.max`.
    private func integer(
        _ at: Int, _ size: Int, _ index: Int
    ) throws(ArchiveFailure) -> JSONNumber {
        guard size <= 16, at + size <= table else {
            throw Self.fault(index, "is an integer that makes no sense")
        }
        if size <= 8 { return .integer(Int64(bitPattern: Self.unsigned(bytes, at, size))) }
        let (high, low) = (Self.unsigned(bytes, at, 8), Self.unsigned(bytes, at + 8, 8))
        switch high {
        case 0: return low <= UInt64(Int64.max) ? .integer(Int64(low)) : .unsigned(low)
        case .max where low > UInt64(Int64.max): return .integer(Int64(bitPattern: low))
        default: throw Self.fault(index, "is an integer beyond 64 bits")
        }
    }

    private func real(_ at: Int, _ size: Int, _ index: Int) throws(ArchiveFailure) -> Double {
        guard size == 4 || size == 8, at + size <= table else {
            throw Self.fault(index, "is a number that makes no sense")
        }
        let bits = Self.unsigned(bytes, at, size)
        guard size == 4 else { return Double(bitPattern: bits) }
        // A binary32 means its shortest spelling: 0.1, not 0.10000000149011612.
        return Double(Float(bitPattern: UInt32(bits)).description) ?? .nan
    }

    private static func unsigned(_ bytes: [UInt8], _ at: Int, _ size: Int) -> UInt64 {
        bytes[at..<at + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// An unsigned number used as an offset, a count or an index.
    private static func index(_ bytes: [UInt8], _ at: Int, _ size: Int) -> Int? {
        // References of 9 to 16 bytes must begin with zeros.
        guard bytes[at..<at + max(0, size - 8)].allSatisfy({ $0 == 0 }) else { return nil }
        return Int(exactly: unsigned(bytes, at + max(0, size - 8), min(size, 8)))
    }

    private static func fault(_ index: Int, _ what: String) -> ArchiveFailure {
        ArchiveFailure("value \(index) of the property list \(what)")
    }
}
