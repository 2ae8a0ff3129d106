import HashTreeCollections
import Objects
import PersistentStructures

/// The names of all buckets by scope, each scope's in order, so that a list costs what it shows.
///
/// Copies share what no insertion or removal between them has touched.
struct BucketNames: Sendable {
    /// Of each scope, runs of ascending names, none of them empty.
    private var scopes: TreeDictionary<BucketScope, [[BucketName]]> = [:]

    /// The names in one run; an insertion copies one run, and the list of them.
    private static let runNames = 256

    /// - Complexity: O(log buckets + buckets of the scope / 256).
    mutating func insert(_ name: BucketName) {
        scopes[name.scope, default: []].withRun(of: name) { runs, number in
            guard let number else {
                runs = [[name]]
                return
            }
            let place = runs[number].firstPlace { !($0 < name) }
            guard place == runs[number].count || runs[number][place] != name else { return }
            runs[number].insert(name, at: place)
            guard runs[number].count > Self.runNames else { return }
            let half = Self.runNames / 2
            runs.insert(Array(runs[number][half...]), at: number + 1)
            runs[number].removeSubrange(half...)
        }
    }

    /// - Complexity: that of `insert`.
    mutating func remove(_ name: BucketName) {
        let scope = name.scope
        scopes[scope]?.withRun(of: name) { runs, number in
            guard let number else { return }
            runs[number].removeAll { $0 == name }
            if runs[number].isEmpty { runs.remove(at: number) }
        }
        if scopes[scope]?.isEmpty == true { scopes[scope] = nil }
    }

    /// The names of a scope in order, from the first behind `last` on.
    ///
    /// - Complexity: O(log buckets) to the first, O(1) to each further one.
    func names(
        in scope: BucketScope, after last: BucketName?
    ) -> some Sequence<BucketName> {
        let runs = scopes[scope] ?? []
        var (number, place) = (0, 0)
        if let last, !runs.isEmpty {
            number = runs.number(of: last)
            place = runs[number].firstPlace { last < $0 }
        }
        return AnyIterator {
            if number < runs.count, place == runs[number].count {
                (number, place) = (number + 1, 0)
            }
            guard number < runs.count else { return nil }
            defer { place += 1 }
            return runs[number][place]
        }
    }

    /// Whether a scope has more buckets than that.
    ///
    /// - Complexity: O(count).
    func has(moreThan count: Int, in scope: BucketScope) -> Bool {
        var rest = count
        for run in scopes[scope] ?? [] {
            rest -= run.count
            if rest < 0 { return true }
        }
        return false
    }
}

extension Array {
    /// The place of the first element with a property, which all behind it have too.
    fileprivate func firstPlace(where isBehind: (Element) -> Bool) -> Int {
        (0..<count).firstPosition { !isBehind(self[$0]) }
    }
}

extension [[BucketName]] {
    /// The run in which a name is or belongs; there has to be one.
    fileprivate func number(of name: BucketName) -> Int {
        Swift.max(firstPlace { name < $0[0] } - 1, 0)
    }

    /// Changes the runs, given the number of the one in which a name is or belongs; nil if there are
    /// none.
    fileprivate mutating func withRun(
        of name: BucketName, _ body: (inout [[BucketName]], Int?) -> Void
    ) {
        body(&self, isEmpty ? nil : number(of: name))
    }
}
