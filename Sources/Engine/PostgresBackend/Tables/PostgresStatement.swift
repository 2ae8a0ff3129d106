/// One statement with its parameters. Its text is a constant, so a connection prepares it once.
struct PostgresStatement {
    let sql: String
    let parameters: [PostgresParameter]

    init(_ sql: String, _ parameters: PostgresParameter...) { self.init(sql, parameters) }

    init(_ sql: String, _ parameters: [PostgresParameter]) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// A parameter of a statement in PostgreSQL's binary format.
struct PostgresParameter {
    /// The number of the type in PostgreSQL's catalogue, `pg_type`.
    let type: UInt32
    /// Nil stands for null.
    let bytes: [UInt8]?

    /// An integer or null.
    static func int(_ value: Int64?) -> PostgresParameter {
        PostgresParameter(type: Types.int8, bytes: value.map(bigEndian))
    }

    static func bool(_ value: Bool) -> PostgresParameter {
        PostgresParameter(type: Types.bool, bytes: [value ? 1 : 0])
    }

    /// A text or null.
    static func text(_ value: String?) -> PostgresParameter {
        PostgresParameter(type: Types.text, bytes: value.map { Array($0.utf8) })
    }

    static func bytea(_ value: [UInt8]) -> PostgresParameter {
        PostgresParameter(type: Types.bytea, bytes: value)
    }

    /// A UUID or null.
    static func uuid(_ value: UUIDBytes?) -> PostgresParameter {
        PostgresParameter(type: Types.uuid, bytes: value?.bytes)
    }

    static func ints(_ values: some Collection<Int64?>) -> PostgresParameter {
        array(Types.int8Array, of: Types.int8, values) { value, bytes in
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
            return 8
        }
    }

    static func texts(_ values: some Collection<String?>) -> PostgresParameter {
        array(Types.textArray, of: Types.text, values) { value, bytes in
            bytes.append(contentsOf: value.utf8)
            return value.utf8.count
        }
    }

    /// Texts that are given as UTF-8.
    static func texts(_ values: some Collection<[UInt8]?>) -> PostgresParameter {
        array(Types.textArray, of: Types.text, values, append)
    }

    static func byteas(_ values: some Collection<[UInt8]?>) -> PostgresParameter {
        array(Types.byteaArray, of: Types.bytea, values, append)
    }

    private static func append(_ value: [UInt8], to bytes: inout [UInt8]) -> Int {
        bytes.append(contentsOf: value)
        return value.count
    }

    /// An array of one dimension in the format of `array_recv`: the number of dimensions, whether
    /// there are nulls, the elements' type, the length and the first index; then the length and the
    /// bytes of each element.
    private static func array<Value>(
        _ type: UInt32, of element: UInt32, _ values: some Collection<Value?>,
        _ append: (Value, inout [UInt8]) -> Int
    ) -> PostgresParameter {
        var bytes: [UInt8] = []
        func int32(_ value: Int32) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        int32(1)
        int32(values.contains { $0 == nil } ? 1 : 0)
        int32(Int32(bitPattern: element))
        int32(Int32(values.count))
        int32(1)
        for value in values {
            guard let value else {
                int32(-1)
                continue
            }
            let start = bytes.count
            int32(0)
            let length = append(value, &bytes)
            withUnsafeBytes(of: Int32(length).bigEndian) { length in
                for (offset, byte) in length.enumerated() { bytes[start + offset] = byte }
            }
        }
        return PostgresParameter(type: type, bytes: bytes)
    }

    private static func bigEndian(_ value: Int64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// Numbers of types. Source: `src/include/catalog/pg_type.dat` of PostgreSQL.
    private enum Types {
        static let bool: UInt32 = 16
        static let bytea: UInt32 = 17
        static let int8: UInt32 = 20
        static let text: UInt32 = 25
        static let byteaArray: UInt32 = 1_001
        static let textArray: UInt32 = 1_009
        static let int8Array: UInt32 = 1_016
        static let uuid: UInt32 = 2_950
    }
}

/// The 16 bytes of a UUID.
public struct UUIDBytes: Sendable, Hashable {
    /// The bytes, the most significant first.
    public let bytes: [UInt8]

    /// A UUID of random bytes.
    public static func random() -> UUIDBytes {
        var generator = SystemRandomNumberGenerator()
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUIDBytes(bytes: bytes)
    }

    /// Nil unless there are 16 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}
