import Glibc
import JSONText
import QueryLanguage
import TestSupport
import Testing

/// The list of a bucket's fields and types, against one made by hand.
@Suite struct FieldSurveyTests {
    private static func text(_ documents: [String], maximumBytes: Int = 1_000_000) throws -> String
    {
        var survey = FieldSurvey()
        for document in documents {
            try JSONParser.reading(Array(document.utf8)) { survey.add($0) }
        }
        var writer = JSONWriter()
        writer.raw("before")
        survey.write(to: &writer, maximumBytes: maximumBytes)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(text.hasPrefix("before"))
        return String(text.dropFirst(6))
    }

    private static func type(_ value: JSONValue) -> String {
        switch value {
        case .null: "NULL"
        case .bool: "BOOLEAN"
        case .number, .digits: value.number!.isWhole ? "INTEGER" : "DECIMAL"
        case .string: "STRING"
        case .array: "ARRAY"
        case .object: value["_type"]?.string == "point" ? "GEOPOINT" : "OBJECT"
        }
    }

    /// Counts the types of all paths that lead somewhere, by walking through values.
    ///
    /// - Parameter top: the names of the first-level fields.
    private static func count(
        _ value: JSONValue, at path: String, besides top: [String],
        _ counts: inout [String: [String: Int]], _ order: inout [String]
    ) {
        for (index, member) in value.members.enumerated() {
            let isLast = !value.members[(index + 1)...].contains { $0.name == member.name }
            if path.isEmpty ? member.name.hasPrefix("_") : !isLast { continue }
            let inner = path.isEmpty ? member.name : path + "." + member.name
            let isUnreachable = member.name.contains(".") || top.contains(inner)
            if !path.isEmpty, isUnreachable { continue }
            if counts[inner] == nil { order.append(inner) }
            counts[inner, default: [:]][type(member.value), default: 0] += 1
            if type(member.value) == "OBJECT", !member.name.contains(".") {
                count(member.value, at: inner, besides: top, &counts, &order)
            }
        }
    }

    @Test func `a first-level field whose name has a dot hides the nested one, and has no parts`()
        throws
    {
        let documents = [
            #"{"a.b":5,"a":{"b":{"_type":"point","lat":1,"lon":1},"c.d":1}}"#, #"{"a.b":{"c":7}}"#,
            #"{"a":{"b":true}}"#,
        ]
        let types = #"{"field":"a.b","types":{"INTEGER":1,"BOOLEAN":1,"OBJECT":1}}"#
        let survey = try JSONValue(parsing: try Self.text(documents)).array ?? []
        let expected = try JSONValue(
            parsing: #"[\#(types),{"field":"a","types":{"OBJECT":2}}]"#)
        #expect(survey.map { $0["field"]?.string } == ["a.b", "a"])
        for (entry, other) in zip(survey, expected.array ?? []) {
            for type in ["INTEGER", "BOOLEAN", "OBJECT", "GEOPOINT"] {
                #expect(entry["types"]?[type]?.int == other["types"]?[type]?.int, "\(entry.text)")
            }
        }
    }

    @Test(arguments: Seeds.first(8))
    func `every path is listed with how many values of which types it has`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let objects = ObjectGenerator(&random)
        let documents = (0..<40).map { _ in objects.document(&random).stored }
        var (counts, order): ([String: [String: Int]], [String]) = ([:], [])
        for document in documents {
            let object = try JSONValue(parsing: document)
            Self.count(object, at: "", besides: object.members.map(\.name), &counts, &order)
        }
        let list = try JSONValue(parsing: try Self.text(documents)).array ?? []
        #expect(list.map { $0["field"]?.string } == order, "seed \(seed)")
        for entry in list {
            let types = try #require(entry["types"])
            let expected = counts[try #require(entry["field"]?.string)]
            let found = try types.decode([String: Int].self)
            #expect(found == expected, "seed \(seed), \(entry.text)")
            let numbers = types.members.compactMap(\.value.int)
            #expect(numbers == numbers.sorted(by: >), "the most frequent first: \(entry.text)")
        }
    }

    @Test func `as many fields are written as fit, and always an array`() throws {
        let documents = [
            #"{"a":1,"b\"b":"x","c":{"d":[null]},"é":{"_type":"point","lat":1,"lon":2}}"#
        ]
        let whole = try Self.text(documents)
        let all = try JSONValue(parsing: whole).array ?? []
        #expect(all.count == 5)
        for most in 2...whole.utf8.count + 1 {
            let text = try Self.text(documents, maximumBytes: most)
            let some = try JSONValue(parsing: text).array ?? []
            #expect(text.utf8.count <= most && some == Array(all.prefix(some.count)))
            // One more would have been too many.
            if some.count < all.count {
                let more = JSONValue.array(Array(all.prefix(some.count + 1)))
                #expect(more.text.utf8.count > most, "\(most)")
            }
        }
    }

    @Test(arguments: [999, 1_000, 1_001])
    func `the first thousand paths are listed`(_ paths: Int) throws {
        let members = (1..<paths - 1).map { #""f\#($0)":{}"# } + [#""f0":{"last":1}"#]
        let document = "{\(members.joined(separator: ","))}"
        let list = try JSONValue(parsing: try Self.text([document])).array ?? []
        #expect(list.count == min(paths, FieldSurvey.pathLimit))
        #expect(
            list.contains { $0["field"]?.string == "f0.last" } == (paths <= FieldSurvey.pathLimit))
        // What is known is counted on.
        let twice = try JSONValue(parsing: try Self.text([document, document])).array ?? []
        #expect(twice[1]["types"]?["OBJECT"]?.int == 2 && twice.count == list.count)
    }

    @Test func `of nested duplicates the last counts, arrays are not entered`() throws {
        #expect(
            try Self.text([#"{"a":{"b":1,"b":"x","c":[{"d":1}]},"_id":"i"}"#, #"{"a.b":true}"#])
                == #"[{"field":"a","types":{"OBJECT":1}},{"field":"a.b","types":{"STRING":1,"BOOLEAN":1}},"#
                + #"{"field":"a.c","types":{"ARRAY":1}}]"#)
    }

    @Test func `whole numbers beyond 32 bits are counted`() throws {
        #expect(
            try Self.text([
                #"{"a":2147483647,"b":2147483648,"c":-2147483649,"d":1e9,"e":2147483648.5}"#,
                #"{"a":-2147483648,"b":1,"c":1e300,"d":1.0,"e":1}"#,
            ]) == #"[{"field":"a","types":{"INTEGER":2}},"#
                + #"{"field":"b","types":{"INTEGER":2},"wide":1},"#
                + #"{"field":"c","types":{"INTEGER":2},"wide":2},"#
                + #"{"field":"d","types":{"INTEGER":2}},"#
                + #"{"field":"e","types":{"INTEGER":1,"DECIMAL":1}}]"#)
    }

    @Test func `longer paths than the limit are left out, and counted`() throws {
        let most = String(repeating: "n", count: FieldSurvey.pathBytes)
        let more = most + "n"
        let half = String(repeating: "h", count: FieldSurvey.pathBytes / 2)
        let rest = String(repeating: "r", count: FieldSurvey.pathBytes - half.utf8.count - 1)
        let document = """
            {"\(most)":{"x":1},"\(more)":{"x":1,"y":2},"\(half)":{"\(rest)":{"z":1},"\(rest)s":1},"b":1}
            """
        var survey = FieldSurvey()
        try JSONParser.reading(Array(document.utf8)) { survey.add($0) }
        var writer = JSONWriter()
        survey.write(to: &writer, maximumBytes: 1_000_000)
        let list = try JSONValue(parsing: writer.bytes).array ?? []
        #expect(list.map { $0["field"]?.string } == [most, half, "\(half).\(rest)", "b"])
        // The long name, what is inside the two longest paths, and the name that is one too long.
        #expect(survey.omitted == 4)
    }

    @Test func `beyond the first thousand, values are counted`() throws {
        let members = (0..<FieldSurvey.pathLimit + 5).map { #""f\#($0)":1"# }
        var survey = FieldSurvey()
        for _ in 0..<2 {
            try JSONParser.reading(Array("{\(members.joined(separator: ","))}".utf8)) {
                survey.add($0)
            }
        }
        #expect(survey.omitted == 10)
    }

    @Test func `a path costs no more for the names above it`() throws {
        func nanoseconds(_ name: String) throws -> Int {
            let members = (0..<3_000).map { #""\#($0)":1"# }.joined(separator: ",")
            let document = Array(#"{"a.b":1,"\#(name)":{\#(members)}}"#.utf8)
            return try (0..<5).map { _ in
                try JSONParser.reading(document) { view in
                    var survey = FieldSurvey()
                    let start = threadNanoseconds()
                    for _ in 0..<10 { survey.add(view) }
                    return threadNanoseconds() - start
                }
            }.min()!
        }
        let short = try nanoseconds("n")
        for length in [400, 32_000] {
            let long = try nanoseconds(String(repeating: "n", count: length))
            #expect(long < 10 * short, "\(length) bytes: \(long), one: \(short) ns")
        }
    }
}

/// Processor time of this thread.
private func threadNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
