/// The names of an object's members, numbered in the order in which they are entered. They are
/// borrowed: valid as long as the view that they are from.
///
///     var names = MemberNames(atMost: object.count)
///     for member in object.members where !names.enter(member.name).isNew { … }    // it stands twice
public struct MemberNames {
    private let areMany: Bool
    /// Few names, which are compared one by one.
    private var few: [UnsafeBufferPointer<UInt8>] = []
    /// The numbers of many names.
    private var many: [Name: Int] = [:]

    private static let mostCompared = 16

    /// - Parameter count: no more names are entered.
    public init(atMost count: Int) {
        areMany = count > Self.mostCompared
        if areMany { many.reserveCapacity(count) } else { few.reserveCapacity(count) }
    }

    /// Enters a name by its UTF-8, escapes resolved, unless it is there.
    ///
    /// - Returns: the number of the name, and whether it was not there yet.
    public mutating func enter(_ name: UnsafeBufferPointer<UInt8>) -> (index: Int, isNew: Bool) {
        if let known = index(of: name) { return (known, false) }
        let index = few.count + many.count
        if areMany { many[Name(utf8: name)] = index } else { few.append(name) }
        return (index, true)
    }

    /// The number of a name; nil if it has not been entered.
    public func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        areMany ? many[Name(utf8: name)] : few.firstIndex { $0.elementsEqualBytes(name) }
    }

    private struct Name: Hashable {
        let utf8: UnsafeBufferPointer<UInt8>

        static func == (a: Name, b: Name) -> Bool { a.utf8.elementsEqualBytes(b.utf8) }

        func hash(into hasher: inout Hasher) {
            hasher.combine(bytes: UnsafeRawBufferPointer(utf8))
        }
    }
}
