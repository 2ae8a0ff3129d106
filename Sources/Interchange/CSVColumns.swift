import JSONText
import Objects

/// The columns that a table of given objects needs: all their names in order of first appearance.
///
/// A GeoPoint `F` takes two columns, `F.lat` and `F.lon`. To write a CSV without holding its
/// objects, go through them twice: first collect the columns, then write.
public struct CSVColumns {
    public private(set) var names: [String] = []
    private var seen: Set<[UInt8]> = []
    private let parser = ObjectParser()

    public init() {}

    /// Adds the columns of one more object.
    ///
    /// - Throws: when the text is no JSON object.
    public mutating func add(_ object: [UInt8]) throws(InterchangeError) {
        for member in try parser.parse(object).members {
            let name = Array(member.name)
            if GeoPoint.coordinate(of: member.value) == nil {
                insert(name)
            } else {
                insert(name + Array(".lat".utf8))
                insert(name + Array(".lon".utf8))
            }
        }
    }

    private mutating func insert(_ name: [UInt8]) {
        if seen.insert(name).inserted { names.append(String(decoding: name, as: UTF8.self)) }
    }
}
