import Foundation
import TestSupport
import Testing

/// The list of what grows in the service's process, `docs/growth.md`, is that of the code.
@Suite struct GrowthTests {
    /// A stored property that can hold a growing number of things.
    private struct Property {
        /// The types around it, the outermost first.
        let types: [(kind: Substring, name: Substring)]
        let name: Substring
        /// What follows the name: its type, its first value.
        let rest: Substring
    }

    /// The layers whose classes live in the service.
    private static let folders = ["Core", "System/Runtime", "Engine", "Service"]

    /// The stored properties that can be changed, of all types. The formatter indents each level of
    /// the code by four blanks.
    private static func properties(in text: String) -> [Property] {
        let type =
            /(?:(?:[a-z]+(?:\([a-z]+\))?|@\w+(?:\([^)]*\))?) +)*?(class|actor|struct|enum|extension|protocol) +(\w+).*/
        let property =
            /(?:(?:[a-z]+(?:\([a-z]+\))?|@\w+(?:\([^)]*\))?) +)*?(var|let) +(\w+)([: =].*)/
        var found: [Property] = []
        var around: [(indentation: Int, kind: Substring, name: Substring)] = []
        for line in text.split(separator: "\n") {
            let code = line.drop { $0 == " " }
            guard !code.isEmpty, code != "}", !code.hasPrefix("//") else { continue }
            let indentation = line.count - code.count
            around.removeAll { $0.indentation >= indentation }
            if let match = code.wholeMatch(of: type) {
                around.append((indentation, match.output.1, match.output.2))
            } else if let last = around.last, indentation == last.indentation + 4,
                let (_, kind, name, rest) = code.wholeMatch(of: property)?.output,
                // Computed ones have their body on this line.
                rest.wholeMatch(of: /[^=]*\{.*|.*\{/) == nil,
                kind == "var" || rest.contains("Mutex") || rest.contains("UnsafeMutable")
            {
                found.append(
                    Property(types: around.map { ($0.kind, $0.name) }, name: name, rest: rest))
            }
        }
        return found
    }

    /// `Class.property` for each that can grow, of classes.
    private static func growingProperties() throws -> Set<String> {
        var properties: [Property] = []
        for folder in folders {
            let root = Checkout.root.appending(path: "Sources/" + folder)
            let files = try #require(FileManager.default.enumerator(atPath: root.path()))
            for case let file as String in files where file.hasSuffix(".swift") {
                let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
                properties += Self.properties(in: text)
            }
        }
        // A struct that has a growing property grows, and so does what has the struct.
        var holders: Set<Substring> = []
        let growing =
            /\[[^\]]*\]|\b(?:Set|Deque|TreeDictionary|FairQueue|BinaryHeap|CircularBuffer|PersistentArray|ByteBuffer|UnsafeMutable\w*Pointer)\b/
        func grows(_ property: Property) -> Bool {
            property.rest.firstMatch(of: growing) != nil
                || property.rest.matches(of: /\b([A-Z]\w*)\b(?!\.[a-z])/)
                    .contains { holders.contains($0.output.1) }
        }
        var count = -1
        while holders.count > count {
            count = holders.count
            for property in properties
            where property.types.allSatisfy({ $0.kind != "class" && $0.kind != "actor" })
                && property.types.last!.kind == "struct" && grows(property)
            {
                holders.insert(property.types.last!.name)
            }
        }
        let ofClasses = properties.filter { property in
            property.types.contains { $0.kind == "class" || $0.kind == "actor" } && grows(property)
        }
        return Set(ofClasses.map { "\($0.types[0].name).\($0.name)" })
    }

    /// `Class.property` for each that the list has.
    private static func listed() throws -> [String] {
        let list = try String(
            contentsOf: Checkout.root.appending(path: "docs/growth.md"), encoding: .utf8)
        return list.matches(of: /(?m)^\| `(\w+)` \| (`\w+`(?:, `\w+`)*) \|/).flatMap { row in
            row.output.2.matches(of: /\w+/).map { "\(row.output.1).\($0.output)" }
        }
    }

    @Test func `every table, queue and cache of the service is listed with what bounds it`() throws
    {
        let (found, listed) = (try Self.growingProperties(), try Self.listed())
        #expect(found.count > 50)
        #expect(Set(listed).count == listed.count, "a name is listed twice")
        #expect(found.subtracting(listed).sorted() == [], "not in docs/growth.md")
        #expect(Set(listed).subtracting(found).sorted() == [], "only in docs/growth.md")
    }

    @Test func `what can grow is found by its text`() {
        let text = """
            final class Keeper {
                private let state = Mutex<[Int: String]>([:])
                let fixed: [Int]
                private(set) var names: Set<String> = []
                var count: Int { names.count }
                static let all = 3

                private struct State {
                    var queue: Deque<Int> = []
                }

                func keep() {
                    var local: [Int] = []
                }
            }
            struct Value {
                public var list: [Int] = []
            }
            """
        let found = Self.properties(in: text).map(\.name)
        #expect(found == ["state", "names", "queue", "list"])
    }
}
