import JSONText
import Objects

/// The columns of a table, and the fields that they become.
struct CSVHeader {
    struct Column {
        let name: String
        /// `"name":` as JSON text.
        let key: [UInt8]
        var type = ColumnType.text
    }

    /// A column, or a field with other fields inside.
    indirect enum Field {
        case column(Int, key: [UInt8])
        case group(key: [UInt8], [Field])
    }

    private(set) var columns: [Column]
    private(set) var fields: [Field] = []

    /// The numbers of the columns whose cells in the header are empty.
    let unnamed: [Int]

    /// - Parameter names: nil for an empty cell without quotes.
    /// - Throws: for duplicate names, and for options that name no column.
    init(names: [String?], options: TableOptions) throws(InterchangeError) {
        unnamed = names.indices.filter { names[$0] == nil }.map { $0 + 1 }
        columns = zip(1..., names).map { number, name in
            let name = name ?? "column\(number)"
            return Column(name: name, key: Self.key(name))
        }
        var seen: Set<[UInt8]> = []
        for column in columns {
            guard seen.insert(Array(column.name.utf8)).inserted else {
                throw InterchangeError("the header has the column \(quoted(column.name)) twice")
            }
        }
        for name in options.types.keys.sorted() where !columns.contains(where: { $0.name == name })
        {
            throw InterchangeError.noField(
                name, among: columns.map(\.name), flag: "a column's type")
        }
        let paths = columns.indices.map { index in
            options.nests ? columns[index].name.split(separator: ".").map(String.init)[...] : []
        }
        fields =
            options.nests
            ? Self.nested(Array(zip(columns.indices, paths)), columns)
            : columns.indices.map { .column($0, key: columns[$0].key) }
    }

    /// Decides the type of each column.
    mutating func setTypes(_ types: [ColumnType]) {
        for (index, type) in zip(columns.indices, types) { columns[index].type = type }
    }

    private static func nested(
        _ paths: [(column: Int, path: ArraySlice<String>)], _ columns: [Column]
    ) -> [Field] {
        var order: [String] = []
        var groups: [String: [(Int, ArraySlice<String>)]] = [:]
        for (column, path) in paths {
            let name = path.first ?? columns[column].name
            if groups[name] == nil { order.append(name) }
            groups[name, default: []].append((column, path.dropFirst()))
        }
        return order.map { name in
            let members = groups[name]!
            if members.count == 1, members[0].1.isEmpty {
                return .column(members[0].0, key: key(name))
            }
            return .group(key: key(name), nested(members, columns))
        }
    }

    private static func key(_ name: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(name)
        writer.byte(UInt8(ascii: ":"))
        return writer.bytes
    }
}
