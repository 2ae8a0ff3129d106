import JSONText

/// Decodes one value of an archive, following its references.
///
/// Each archived object is decoded once and cached, so a shared object costs nothing again. The
/// size of a value with all its references resolved is counted and limited. An object that contains
/// itself is refused, or its references back are cut. What is cut depends on the objects around, so
/// an object in which something was cut is decoded anew wherever it stands.
struct ArchiveDecoder {
    /// A value, how many values it consists of when written out, and the levels of its containers.
    struct Sized {
        var value: JSONValue
        var count = 1
        var depth = 0
        /// How many references back were left out of it.
        var cuts = 0
        /// Whether it stands for such a reference and has to be left out itself.
        var isCut = false

        /// A reference back.
        static let cut = Sized(value: .null, count: 0, cuts: 1, isCut: true)

        /// A string, which counts by its length.
        static func text(_ text: String) -> Sized {
            Sized(value: .string(text), count: 1 + PropertyList.extra(text.utf8.count))
        }
    }

    private let objects: [Int]
    private let options: KeyedArchive.Options
    private var reader: ArchiveReader
    private var decoded: [Int: Sized] = [:]
    private var classes: [Int: [String]] = [:]
    /// The objects on the path from the top to the current one, each with the length of `path` at
    /// it.
    private var underWay: [Int: Int] = [:]
    /// How many references back were left out of the last value that was decoded whole.
    private(set) var cutReferences = 0
    private var path: [String]
    /// Whether a fault in an element of the outermost list leaves the other elements readable.
    private let keepsOtherElements: Bool
    /// The faults of elements of the outermost list, by index; each such element becomes null.
    private(set) var elementFailures: [Int: ArchiveFailure] = [:]
    /// The number of nested values being decoded, references included. `path` does not include keys
    /// or the parts of strings and the like, and a file may build those from containers that
    /// contain themselves.
    private var steps = 0
    private var mostSteps: Int { 2 * (options.limits.depth + Self.stepsWithinValue) }

    /// A container is a reference and a value; a value that becomes a string has a few more of
    /// each.
    private static let stepsWithinValue = 4

    init(
        _ archive: KeyedArchive, options: KeyedArchive.Options, path: String,
        keepsOtherElements: Bool = false
    ) {
        objects = archive.objects
        self.options = options
        self.keepsOtherElements = keepsOtherElements
        reader = ArchiveReader(list: archive.list, budget: options.limits.values)
        self.path = [path]
    }

    func failure(_ message: String) -> ArchiveFailure {
        ArchiveFailure(message, at: path.joined())
    }

    /// The value at an index of the property list; nil for an archived nil.
    mutating func value(at index: Int) throws(ArchiveFailure) -> JSONValue? {
        guard let sized = try sized(at: index), !sized.isCut else { return nil }
        cutReferences = sized.cuts
        return sized.value
    }

    /// The value encoded under a top-level key.
    mutating func value(at index: Int, key: String) throws(ArchiveFailure) -> JSONValue {
        guard let value = try value(at: index) else { throw ArchiveFailure("is nil", at: key) }
        return value
    }

    /// - Parameter isObject: whether the index is an element of `$objects`, where a dictionary is
    ///   an instance of a class.
    mutating func sized(
        at index: Int, isObject: Bool = false
    ) throws(ArchiveFailure) -> Sized? {
        steps += 1
        defer { steps -= 1 }
        guard steps <= mostSteps else { throw tooDeep }
        switch try read(index) {
        case .uid(let uid): return try object(uid)
        case .null: return Sized(value: .null)
        case .bool(let bool): return Sized(value: .bool(bool))
        case .number(let number):
            guard number.double.isFinite else {
                throw failure("\(number.double) has no JSON spelling")
            }
            return Sized(value: .number(number))
        case .string(let text): return .text(text)
        case .data(let bytes): return .text(Base64.encoded(bytes))
        case .date(let seconds): return try date(seconds)
        case .array(let elements):
            return try list(elements)
        case .dictionary(let members):
            try check(levels: 1)
            return try instance(members, needsClass: isObject)
        }
    }

    /// Reads a value; a fault of the file is reported with the path that led there.
    mutating func read(_ index: Int) throws(ArchiveFailure) -> PropertyList.Value {
        do throws(ArchiveFailure) {
            return try reader.value(index)
        } catch {
            throw failure(error.message)
        }
    }

    /// An element of `$objects`.
    private mutating func object(_ uid: Int) throws(ArchiveFailure) -> Sized? {
        if let known = decoded[uid] {
            try check(levels: known.depth)
            return known
        }
        guard objects.indices.contains(uid) else {
            throw failure("refers to object \(uid) of \(objects.count)")
        }
        if uid == 0, case .string("$null") = try read(objects[0]) { return nil }
        if let count = underWay[uid] {
            guard options.cutsReferences else { throw refersBack(count) }
            return .cut
        }
        underWay[uid] = path.count
        let result = try sized(at: objects[uid], isObject: true)
        underWay[uid] = nil
        if let result, result.cuts == 0 { decoded[uid] = result }
        return result
    }

    /// - Parameter count: the length of the path of the object that is referred to.
    private func refersBack(_ count: Int) -> ArchiveFailure {
        failure(ArchiveFailure.refersBack + path.prefix(count).joined())
    }

    private func check(levels: Int) throws(ArchiveFailure) {
        guard path.count + levels - 1 <= options.limits.depth else { throw tooDeep }
    }

    private var tooDeep: ArchiveFailure {
        failure("is nested deeper than \(options.limits.depth) levels")
    }

    // MARK: Containers

    mutating func list(_ elements: [Int]) throws(ArchiveFailure) -> Sized {
        try list(elements) { element, decoder throws(ArchiveFailure) in
            try decoder.sized(at: element)
        }
    }

    /// Makes a list by calling `read` for each element.
    mutating func list<Element>(
        _ elements: [Element],
        _ read: (Element, inout ArchiveDecoder) throws(ArchiveFailure) -> Sized?
    ) throws(ArchiveFailure) -> Sized {
        try check(levels: 1)
        var values: [JSONValue] = []
        var (count, depth, cuts) = (1, 0, 0)
        for (index, element) in elements.enumerated() {
            path.append("[\(index)]")
            let element = try keepingOthers(index) { decoder throws(ArchiveFailure) in
                try read(element, &decoder)
            }
            try add(element.count, to: &count)
            depth = max(depth, element.depth)
            cuts += element.cuts
            if !element.isCut { values.append(element.value) }
            path.removeLast()
        }
        return Sized(value: .array(values), count: count, depth: depth + 1, cuts: cuts)
    }

    /// Reads an element of a list. If other elements are to stay readable, a failure is recorded
    /// and the element becomes null.
    private mutating func keepingOthers(
        _ index: Int, _ read: (inout ArchiveDecoder) throws(ArchiveFailure) -> Sized?
    ) throws(ArchiveFailure) -> Sized {
        let level = path.count
        let isOfOutermostList = keepsOtherElements && level == 2
        do throws(ArchiveFailure) {
            guard let element = try read(&self) else { throw failure("is nil") }
            // An element of the outermost list is no member of anything, so it is not left out.
            guard !(isOfOutermostList && element.isCut) else { throw refersBack(1) }
            return element
        } catch {
            // If the budget is used up, no other element can be read either.
            guard isOfOutermostList, reader.budget >= 0 else { throw error }
            path.removeLast(path.count - level)
            underWay = underWay.filter { $0.value < level }
            elementFailures[index] = error
            return Sized(value: .null)
        }
    }

    /// An element of a counted set, with its number of occurrences.
    ///
    /// - Parameter times: the index of that number; nil means 1.
    mutating func counted(_ element: Int, times: Int?) throws(ArchiveFailure) -> Sized {
        try check(levels: 1)
        var number = JSONNumber.integer(1)
        if let times {
            guard case .number(let found) = try read(times), found.isWhole, found >= number else {
                throw failure("has a count that is no whole number above 0")
            }
            number = found
        }
        path.append(".value")
        guard let value = try sized(at: element) else { throw failure("is nil") }
        var count = 2
        try add(value.count, to: &count)
        path.removeLast()
        if value.isCut { return value }
        return Sized(
            value: .object(["value": value.value, "count": .number(number)]), count: count,
            depth: value.depth + 1, cuts: value.cuts)
    }

    /// Members in the order of the archive; nil members are left out.
    mutating func members(
        _ members: some Sequence<(key: String, value: Int)>
    ) throws(ArchiveFailure) -> Sized {
        var result: [JSONValue.Member] = []
        var names: Set<[UInt8]> = []
        var (count, depth, cuts) = (1, 0, 0)
        for member in members {
            path.append(".\(member.key)")
            guard names.insert(Array(member.key.utf8)).inserted else {
                throw failure("stands here twice")
            }
            if let value = try sized(at: member.value) {
                try add(value.count + PropertyList.extra(member.key.utf8.count), to: &count)
                depth = max(depth, value.depth)
                cuts += value.cuts
                if !value.isCut { result.append(JSONValue.Member(member.key, value.value)) }
            }
            path.removeLast()
        }
        return Sized(value: .object(result), count: count, depth: depth + 1, cuts: cuts)
    }

    /// Adds to a count within its limit. Elements of the outermost list are separate objects, each
    /// with its own limit; all together have the limit on values read.
    private func add(_ count: Int, to sum: inout Int) throws(ArchiveFailure) {
        let limit = path.count <= 2 ? options.limits.values : options.limits.objectValues
        let (total, overflows) = sum.addingReportingOverflow(count)
        guard !overflows, total <= limit else {
            throw failure("has more than \(limit) values when written out")
        }
        sum = total
    }

    /// A string built from other values, which costs as much as one that is read.
    mutating func made(_ text: String) throws(ArchiveFailure) -> Sized {
        let result = Sized.text(text)
        reader.budget -= result.count
        guard reader.budget >= 0 else { throw failure(PropertyList.overBudget.message) }
        return result
    }

    // MARK: Instances

    private mutating func instance(
        _ members: [(key: Int, value: Int)], needsClass: Bool
    ) throws(ArchiveFailure) -> Sized? {
        var fields: [(key: String, value: Int)] = []
        var classNames: [String] = []
        for member in members {
            guard case .string(let key) = try read(member.key) else {
                throw failure("a key is no string")
            }
            if key == "$class" {
                classNames = try self.classNames(member.value)
            } else {
                fields.append((Self.unescaped(key), member.value))
            }
        }
        guard !classNames.isEmpty || !needsClass else {
            throw failure("has no class: every object of an archive names its own in $class")
        }
        for name in classNames {
            // A class that encodes its own keys instead of its ancestor's is treated like any
            // other.
            guard let known = FoundationClass(name), known.isEncoded(as: fields) else { continue }
            return try known.decode(fields, &self)
        }
        if classNames.contains("CLLocation"), let point = try location(fields) { return point }
        var result = try self.members(fields)
        if let name = classNames.first, let field = options.typeFields[name] {
            guard result.value[field] == nil else {
                throw failure("\(name) has a field \(field) of its own")
            }
            result.value = .object(
                [JSONValue.Member(field, .string(name))] + result.value.members)
        }
        return result
    }

    /// The archiver prefixes an app's own keys that begin with `$` with another `$`.
    private static func unescaped(_ key: String) -> String {
        key.utf8.starts(with: "$$".utf8) ? String(key.unicodeScalars.dropFirst()) : key
    }

    /// The class's own name and those of its ancestors.
    private mutating func classNames(_ index: Int) throws(ArchiveFailure) -> [String] {
        guard case .uid(let uid) = try read(index), objects.indices.contains(uid) else {
            throw failure("$class refers to nowhere")
        }
        if let known = classes[uid] { return known }
        guard case .dictionary(let members) = try read(objects[uid]) else {
            throw failure("$class does not lead to a class")
        }
        var own: String?
        var names: [String] = []
        for member in members {
            switch (try read(member.key), try read(member.value)) {
            case (.string("$classname"), .string(let name)): own = name
            case (.string("$classes"), .array(let elements)):
                for element in elements {
                    if case .string(let name) = try read(element) { names.append(name) }
                }
            default: break
            }
        }
        guard let own else { throw failure("$class leads to a class without a name") }
        if names.first != own { names.insert(own, at: 0) }
        classes[uid] = names
        return names
    }

    func date(_ seconds: Double) throws(ArchiveFailure) -> Sized {
        guard let milliseconds = PropertyListDate.milliseconds(seconds) else {
            throw failure("is no date that has milliseconds in 64 bits")
        }
        return Sized(value: .number(.integer(milliseconds)))
    }

    /// The coordinate of a CLLocation.
    private mutating func location(
        _ fields: [(key: String, value: Int)]
    ) throws(ArchiveFailure) -> Sized? {
        let prefix = "kCLLocationCodingKeyCoordinate"
        let degrees = try members(fields.filter { $0.key.hasPrefix(prefix) }).value
        guard let latitude = degrees[prefix + "Latitude"]?.double,
            let longitude = degrees[prefix + "Longitude"]?.double
        else { return nil }
        do throws(ArchiveFailure) {
            return Sized(value: try ArchivedPoint.value(latitude, longitude), count: 4, depth: 1)
        } catch {
            throw failure(error.message)
        }
    }
}
