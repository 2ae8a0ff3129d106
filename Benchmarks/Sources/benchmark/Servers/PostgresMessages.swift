/// Messages of PostgreSQL's protocol 3.0, for clients.
///
/// - Reference: PostgreSQL 15 documentation, chapter 55, "Frontend/Backend Protocol".
enum PostgresMessages {
    static func startup(user: String, database: String) -> [UInt8] {
        let body =
            integer(196_608) + text("user") + text(user) + text("database") + text(database) + [0]
        return integer(Int32(body.count + 4)) + body
    }

    /// A statement as text, answered at once.
    static func query(_ statement: String) -> [UInt8] { message("Q", text(statement)) }

    /// Parses a statement under a name.
    static func prepare(_ name: String, _ statement: String) -> [UInt8] {
        message("P", text(name) + text(statement) + short(0)) + message("S", [])
    }

    /// Runs a prepared statement: parameters as text, columns as binary.
    static func execute(_ name: String, _ parameters: [String]) -> [UInt8] {
        var bind = text("") + text(name) + short(0) + short(Int16(parameters.count))
        for parameter in parameters {
            bind += integer(Int32(parameter.utf8.count)) + Array(parameter.utf8)
        }
        bind += short(1) + short(1)
        return message("B", bind) + message("E", text("") + integer(0)) + message("S", [])
    }

    /// The columns of each row of an answer.
    static func rows(in answer: [UInt8]) -> [[ArraySlice<UInt8>]] {
        var rows: [[ArraySlice<UInt8>]] = []
        var rest = answer[...]
        while let kind = rest.first {
            let length = Int(integer(rest.dropFirst().prefix(4)))
            if kind == UInt8(ascii: "D") {
                var columns = rest.dropFirst(7).prefix(length - 6)
                var row: [ArraySlice<UInt8>] = []
                while !columns.isEmpty {
                    let count = Int(integer(columns.prefix(4)))
                    row.append(columns.dropFirst(4).prefix(count))
                    columns = columns.dropFirst(4 + count)
                }
                rows.append(row)
            }
            rest = rest.dropFirst(1 + length)
        }
        return rows
    }

    /// A big-endian number of up to eight bytes.
    static func integer(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func message(_ kind: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
        [UInt8(ascii: kind)] + integer(Int32(body.count + 4)) + body
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private static func integer(_ value: Int32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func short(_ value: Int16) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
