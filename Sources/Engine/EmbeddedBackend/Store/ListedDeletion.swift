import BackendContract
import CZlib
import GRDB
import Objects
import PersistentStructures

/// The deletion of many objects, whose rows are removed later. It has happened: nobody may see these
/// rows any more.
public struct ListedDeletion: Sendable {
    /// The number of the change that deleted the first object. Those of the others follow it.
    public let firstChange: ChangeNumber
    /// The bucket of the objects. It may have been deleted with them, and created again since.
    public let bucket: BucketName
    /// The time of the deletion, in milliseconds since 1970.
    public let deleted: Int64
    /// The changes that created the objects, in ascending order.
    public let creations: [ChangeNumber]

    /// The number of the change that deleted the last object.
    public var lastChange: ChangeNumber { change(ofObject: creations.count - 1) }

    /// The change that deleted an object of the list.
    public func change(ofObject position: Int) -> ChangeNumber {
        firstChange + ChangeNumber(position)
    }

    static let columns = "first_change, bucket, deleted, creations, checksum"

    /// - Throws: `StoreFailure.damaged` if the row does not have the checksum it was written with.
    init(_ row: SQLStatement) throws(StoreFailure) {
        firstChange = ChangeNumber(truncatingIfNeeded: row.int(0))
        bucket = BucketName(trusted: row.text(1) ?? "")
        deleted = row.int(2)
        let list = row.bytes(3).map { Array($0) } ?? []
        guard Self.checksum(list, firstChange, bucket, deleted) == row.int(4),
            let creations = Self.decode(list)
        else { throw StoreFailure.damaged("a list of deleted objects cannot be read") }
        self.creations = creations
    }

    /// - Parameters:
    ///   - creations: the changes that created the objects, in ascending order. There is one.
    ///   - firstChange: the change that deleted the first object.
    ///   - deleted: the time of the deletion, in milliseconds since 1970.
    public init(
        _ creations: [ChangeNumber], in bucket: BucketName, from firstChange: ChangeNumber,
        at deleted: Int64
    ) {
        (self.creations, self.bucket) = (creations, bucket)
        (self.firstChange, self.deleted) = (firstChange, deleted)
    }

    /// The list as the store keeps it, and its checksum.
    func encoded() -> (list: [UInt8], checksum: Int64) {
        let list = Self.encode(creations)
        return (list, Self.checksum(list, firstChange, bucket, deleted))
    }

    /// The listed deletions, the oldest first.
    static func all(_ db: Database) throws -> [ListedDeletion] {
        let rows = try SQLStatement(
            db, "SELECT \(columns) FROM deletion ORDER BY first_change")
        defer { rows.reset() }
        var all: [ListedDeletion] = []
        while try rows.step() { all.append(try ListedDeletion(rows)) }
        return all
    }

    /// Calls `body` with each object whose row is still there, and its id, until it returns false.
    func forEachRow(
        from first: Int, _ db: Database, _ body: (Int, ObjectID) throws -> Bool
    ) throws {
        let finding = try SQLStatement(db, "SELECT id FROM object WHERE creation = ?1")
        for position in max(first, 0)..<max(first, creations.count) {
            let id = try finding.bind(1, Int64(creations[position]))
                .first { ObjectID(trusted: $0.text(0) ?? "") }
            if let id, try !body(position, id) { return }
        }
    }

    // MARK: The list

    /// The differences of neighbours in groups of seven bits, the lowest first. All groups of a
    /// number but its last have the eighth bit.
    private static func encode(_ creations: [ChangeNumber]) -> [UInt8] {
        var list: [UInt8] = []
        list.reserveCapacity(creations.count * 2)
        var last: ChangeNumber = 0
        for creation in creations {
            var rest = creation - last
            while rest >= 0x80 {
                list.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            list.append(UInt8(rest))
            last = creation
        }
        return list
    }

    private static func decode(_ list: [UInt8]) -> [ChangeNumber]? {
        var creations: [ChangeNumber] = []
        creations.reserveCapacity(list.count)
        var (last, number, shift): (ChangeNumber, ChangeNumber, ChangeNumber) = (0, 0, 0)
        for byte in list {
            guard shift < 63 else { return nil }
            number |= ChangeNumber(byte & 0x7F) << shift
            shift += 7
            guard byte < 0x80 else { continue }
            last &+= number
            creations.append(last)
            (number, shift) = (0, 0)
        }
        return shift == 0 ? creations : nil
    }

    /// CRC-32 of everything that the row says.
    private static func checksum(
        _ list: [UInt8], _ firstChange: ChangeNumber, _ bucket: BucketName, _ deleted: Int64
    ) -> Int64 {
        let head = Array("\(firstChange) \(deleted) \(bucket.text) ".utf8)
        let sum = crc32_z(crc32_z(0, head, head.count), list, list.count)
        return Int64(truncatingIfNeeded: sum)
    }
}

/// The objects of all listed deletions whose rows may still be there, by the changes that created
/// them.
struct ListedCreations: Sendable {
    /// In ascending order.
    private let creations: [Int64]

    init(_ db: Database) throws {
        let lists = try ListedDeletion.all(db).map(\.creations)
        let all = lists.joined().map { Int64(clamping: $0) }
        creations = lists.count > 1 ? all.sorted() : all
    }

    /// A walk through the list beside one through rows whose creations ascend.
    struct Walk {
        private let creations: [Int64]
        private var next: Int

        fileprivate init(_ creations: [Int64], from first: Int64) {
            self.creations = creations
            next = creations.indices.firstPosition { creations[$0] < first }
        }

        /// Whether the object that a change created has been deleted.
        mutating func contains(_ creation: Int64) -> Bool {
            while next < creations.count, creations[next] < creation { next += 1 }
            return next < creations.count && creations[next] == creation
        }
    }

    func walk(from first: Int64 = .min) -> Walk { Walk(creations, from: first) }
}
