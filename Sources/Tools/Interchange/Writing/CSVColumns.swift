import JSONText
import Objects

/// The columns of a table for given objects: all their field names in order of first appearance.
///
/// A GeoPoint `F` takes two columns, `F.lat` and `F.lon`. A column `F` exists as well if other
/// objects have another value in `F`; it is empty for the GeoPoint. To write a CSV without keeping
/// its objects in memory, go through them twice: first collect the columns, then write.
public struct CSVColumns {
    private var columns: [Column] = []
    private var positions: [[UInt8]: Int] = [:]
    private let parser = ObjectParser()
    private var form = PlaceForm.columns

    /// No columns yet; `add` collects them.
    public init() {}

    /// - Parameter form: whether a GeoPoint takes two columns or one.
    init(_ form: PlaceForm) { self.form = form }

    /// Columns for these field paths, whatever the objects contain.
    init(paths: [String]) {
        columns = paths.map { Column(name: Array($0.utf8), source: .path(FieldPath($0))) }
    }

    private struct Column {
        let name: [UInt8]
        var source: Source
    }

    private enum Source {
        case path(FieldPath)
        /// A first-level field that is no GeoPoint.
        case field
        /// Half of a GeoPoint, unless a field has the same name as the column.
        case half(of: [UInt8], StaticString)
    }

    /// The names of the columns in order.
    public var names: [String] { columns.map { String(decoding: $0.name, as: UTF8.self) } }

    /// Adds the columns of one more object.
    ///
    /// - Throws: when the text is no JSON object.
    public mutating func add(_ object: [UInt8]) throws(InterchangeError) {
        for member in try parser.parse(object).members {
            let name = Array(member.name)
            if form != .columns || GeoPoint.coordinate(of: member.value) == nil {
                insert(name, .field)
            } else {
                insert(name + Array(".lat".utf8), .half(of: name, "lat"))
                insert(name + Array(".lon".utf8), .half(of: name, "lon"))
            }
        }
    }

    private mutating func insert(_ name: [UInt8], _ source: Source) {
        guard let position = positions[name] else {
            positions[name] = columns.count
            columns.append(Column(name: name, source: source))
            return
        }
        if case .half = source { columns[position].source = source }
    }

    /// The value of an object in each column; nil is an empty cell.
    func cells(of object: JSONView) -> [JSONView?] { columns.map { cell(of: object, $0) } }

    private func cell(of object: JSONView, _ column: Column) -> JSONView? {
        func member(_ name: [UInt8]) -> JSONView? {
            name.withUnsafeBufferPointer { object.member($0) }
        }
        if case .path(let path) = column.source { return path.value(in: object) }
        if let own = member(column.name),
            form != .columns || GeoPoint.coordinate(of: own) == nil
        {
            return own
        }
        guard case .half(let field, let half) = column.source, let point = member(field),
            GeoPoint.coordinate(of: point) != nil
        else { return nil }
        return point[half]
    }
}
