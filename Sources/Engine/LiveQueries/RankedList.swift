import BackendContract

/// The first so many of an order, as a ranking shows them.
struct RankedList {
    /// One place of the list.
    struct Entry: Equatable {
        /// The change that created the object.
        var creation: ChangeNumber
        /// The object's latest change.
        var change: ChangeNumber
        /// The object as the watch shows it.
        var text: [UInt8]
        /// Its id, quoted.
        var id: [UInt8]
    }

    /// A step from one list to another. Places are those after the step.
    enum Step: Equatable {
        case leave(Entry)
        case enter(Entry, index: Int)
        /// What is shown has changed; if the object has moved in the list, `from` is its place before.
        case change(Entry, index: Int, from: Int?)
    }

    /// The number of the last change of the state that has the list.
    var change: ChangeNumber
    /// The time at which that state was looked at, in milliseconds since 1970.
    var time: Int64
    var entries: [Entry]
    /// Why objects left since the list before.
    var departures: [ChangeNumber: LeaveReason] = [:]

    /// The memory of the list.
    var bytes: Int {
        entries.reduce(0) { $0 + $1.text.count + $1.id.count + WatchEvent.frameBytes }
    }

    /// Whether another list shows the same: an object may have changes that the watch does not show.
    func shows(_ other: RankedList) -> Bool {
        entries.elementsEqual(other.entries) { $0.creation == $1.creation && $0.text == $1.text }
    }

    /// Whether the steps to another list may occupy more bytes in a notification. One step may always
    /// be told.
    func exceeds(_ maximumBytes: Int, in new: RankedList, beside others: Int) -> Bool {
        let departures = entries.reduce(0) { $0 + $1.id.count + WatchEvent.frameBytes }
        guard departures + new.bytes > maximumBytes else { return false }
        let steps = steps(to: new)
        let length = steps.reduce(0) { sum, step in
            switch step {
            case .leave(let entry): sum + entry.id.count + WatchEvent.frameBytes
            case .enter(let entry, _), .change(let entry, _, _):
                sum + entry.text.count + WatchEvent.frameBytes
            }
        }
        return steps.count + others > 1 && length > maximumBytes
    }

    /// Steps that, applied one after the other, turn this list into another one.
    ///
    /// What has left goes first. The rest of the old list is then put in order, from the front: at
    /// each place, what belongs there enters or moves there. Objects that stand in the longest run
    /// that is already in order do not move.
    ///
    /// - Complexity: O(n²) in the lengths, which are at most some hundred.
    func steps(to new: RankedList) -> [Step] {
        let kept = Set(new.entries.map(\.creation))
        var steps = entries.filter { !kept.contains($0.creation) }.map(Step.leave)
        var list = entries.filter { kept.contains($0.creation) }
        let places = Dictionary(
            uniqueKeysWithValues: new.entries.enumerated().map { ($1.creation, $0) })
        let fixed = Self.longestAscent(list.map { places[$0.creation]! })
        let stays = Set(fixed.map { list[$0].creation })
        for (index, entry) in new.entries.enumerated() {
            if let from = list.firstIndex(where: { $0.creation == entry.creation }) {
                if stays.contains(entry.creation) {
                    // What stands before it and has yet to move away makes its place differ for now.
                    if list[from].text != entry.text {
                        steps.append(.change(entry, index: from, from: nil))
                        list[from] = entry
                    }
                    continue
                }
                list.remove(at: from)
                let target = Self.target(of: index, new, in: list)
                list.insert(entry, at: target)
                steps.append(.change(entry, index: target, from: from))
            } else {
                let target = Self.target(of: index, new, in: list)
                list.insert(entry, at: target)
                steps.append(.enter(entry, index: target))
            }
        }
        return steps
    }

    /// The place behind the object that precedes one in the new list.
    private static func target(of index: Int, _ new: RankedList, in list: [Entry]) -> Int {
        guard index > 0 else { return 0 }
        let former = new.entries[index - 1].creation
        return list.firstIndex { $0.creation == former }! + 1
    }

    /// The positions of a longest ascending subsequence of distinct numbers.
    private static func longestAscent(_ numbers: [Int]) -> [Int] {
        var tails: [Int] = []  // of the best subsequence of each length, its last position
        var former = [Int](repeating: -1, count: numbers.count)
        for position in numbers.indices {
            let length = tails.firstIndex { numbers[$0] > numbers[position] } ?? tails.count
            if length > 0 { former[position] = tails[length - 1] }
            if length == tails.count { tails.append(position) } else { tails[length] = position }
        }
        var positions: [Int] = []
        var at = tails.last ?? -1
        while at >= 0 {
            positions.append(at)
            at = former[at]
        }
        return positions.reversed()
    }
}
