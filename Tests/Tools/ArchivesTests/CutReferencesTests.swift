import Archives
import Foundation
import JSONText
import Testing

/// A node of a tree that knows its parent, as models of Objective-C do.
final class TreeNode: NSObject, NSCoding {
    let name: String
    var children: [TreeNode] = []
    weak var parent: TreeNode?

    init(_ name: String) { self.name = name }
    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(children as NSArray, forKey: "children")
        coder.encode(parent, forKey: "parent")
    }
}

/// Objects that refer back to one around them: parents, delegates, lists that know their owner.
@Suite struct CutReferencesTests {
    private static let uid = ArchiveText.uid

    /// What a key becomes if references back are cut, and how many were; or why it is refused.
    private static func cut(_ bytes: [UInt8], limits: ArchiveLimits = .init()) -> (String, Int) {
        var options = KeyedArchive.Options()
        (options.cutsReferences, options.limits) = (true, limits)
        do throws(ArchiveFailure) {
            var count = 0
            let archive = try KeyedArchive(bytes, options: options)
            let value = try archive.value(forKey: "root", cutReferences: &count)
            return (value.text, count)
        } catch {
            return (error.description, 0)
        }
    }

    /// Each record, or why there is none; behind them the number of cuts.
    private static func records(_ bytes: [UInt8]) throws -> [String] {
        var options = ArchivedRecords.Options()
        options.archive.cutsReferences = true
        let records = try ArchivedRecords(bytes, options: options)
        let texts = (0..<records.count).map { index in
            do throws(ArchiveFailure) {
                return try records.document(at: index).text
            } catch {
                return error.description
            }
        }
        return texts + ["\(records.cutReferences)"]
    }

    /// A parent with children in a list, each of which knows its parent and its list.
    private static func family(_ archive: inout ArchiveText, _ names: [String]) -> (
        parent: Int, children: [Int]
    ) {
        let strings = names.map { archive.string($0) }
        // So that the classes are there, and every object that follows is one number.
        _ = archive.list([archive.instance(["Node", "NSObject"], [:])])
        let first = archive.count
        let list = first + names.count
        let children = strings.map {
            archive.instance(
                ["Node", "NSObject"],
                ["name": uid($0), "parent": uid(list + 1), "siblings": uid(list)])
        }
        #expect(archive.list(children) == list)
        let parent = archive.instance(["Node", "NSObject"], ["children": uid(list)])
        return (parent, children)
    }

    @Test func `A member that refers back is left out, and counted`() {
        var archive = ArchiveText()
        let family = Self.family(&archive, ["a", "b"])
        let bytes = archive.bytes(top: ["root": family.parent])
        #expect(outcome(bytes) == "root.children[0].parent: refers back to root")
        let (text, cuts) = Self.cut(bytes)
        #expect(text == #"{"children":[{"name":"a"},{"name":"b"}]}"# && cuts == 4)
    }

    @Test func `What is cut depends on what lies around, not on what was read before`() throws {
        var archive = ArchiveText()
        let family = Self.family(&archive, ["a", "b"])
        let list = archive.list(family.children + [family.parent])
        let bytes = archive.bytes(top: ["root": list])
        #expect(
            try Self.records(bytes) == [
                // The list is first met in the parent, and then again beside it.
                #"{"name":"a","parent":{"children":[{"name":"b"}]},"siblings":[{"name":"b","parent":{}}]}"#,
                #"{"name":"b","parent":{"children":[{"name":"a"}]},"siblings":[{"name":"a","parent":{}}]}"#,
                #"{"children":[{"name":"a"},{"name":"b"}]}"#, "16",
            ])
    }

    @Test func `An element, a value of a dictionary and a counted element are left out too`() {
        var archive = ArchiveText()
        let (key, other) = (archive.string("k"), archive.string("o"))
        for (names, members, json) in [
            (
                ["NSArray", "NSObject"],
                ["NS.objects": "<array>\(Self.uid(99))\(Self.uid(other))</array>"], #"["o"]"#
            ),
            (
                ["NSDictionary", "NSObject"],
                [
                    "NS.keys": "<array>\(Self.uid(key))\(Self.uid(other))</array>",
                    "NS.objects": "<array>\(Self.uid(99))\(Self.uid(other))</array>",
                ], #"{"o":"o"}"#
            ),
            (
                ["NSCountedSet", "NSObject"],
                [
                    "NS.count": "<integer>2</integer>", "NS.object0": Self.uid(99),
                    "NS.count0": "<integer>2</integer>", "NS.object1": Self.uid(other),
                    "NS.count1": "<integer>1</integer>",
                ], #"[{"value":"o","count":1}]"#
            ),
        ] as [([String], KeyValuePairs<String, String>, String)] {
            var archive = archive
            while archive.count < 98 { _ = archive.string("x") }
            // Its class is object 98, it is object 99.
            let root = archive.instance(names, members)
            #expect(root == 99)
            let (text, cuts) = Self.cut(archive.bytes(top: ["root": root]))
            #expect(text == json && cuts == 1, "\(text)")
        }
    }

    @Test func `A shared object in which something is cut is written wherever it stands`() {
        var archive = ArchiveText()
        let family = Self.family(&archive, ["a"])
        let root = archive.list([family.parent, family.parent, family.parent])
        let (text, cuts) = Self.cut(archive.bytes(top: ["root": root]))
        let parent = #"{"children":[{"name":"a"}]}"#
        #expect(text == "[\(parent),\(parent),\(parent)]" && cuts == 6)
    }

    @Test func `The outermost list has an element for each, one that is the list itself fails`()
        throws
    {
        var archive = ArchiveText()
        _ = archive.list([])
        let name = archive.string("a")
        let root = archive.count + 2
        let thing = archive.instance(
            ["Thing", "NSObject"], ["name": Self.uid(name), "owner": Self.uid(root)])
        #expect(archive.list([root, thing]) == root)
        #expect(
            try Self.records(archive.bytes(top: ["root": root]))
                == ["root[0]: refers back to root", #"{"name":"a"}"#, "1"])
    }

    @Test func `What consists of nothing but itself is nothing`() {
        var archive = ArchiveText()
        let text = archive.instance(
            ["NSMutableString", "NSObject"], ["NS.string": Self.uid(archive.count + 1)])
        #expect(Self.cut(archive.bytes(top: ["root": text])).0 == "root: is nil")
        let thing = archive.instance(["Thing", "NSObject"], ["text": Self.uid(text)])
        let (json, cuts) = Self.cut(archive.bytes(top: ["root": thing]))
        #expect(json == "{}" && cuts == 1)
    }

    @Test func `Each object that refers to each other costs no more than the limits allow`() {
        var archive = ArchiveText()
        _ = archive.instance(["Node", "NSObject"], [:])
        let first = archive.count
        for _ in 0..<30 {
            let members = (first..<first + 30).map {
                "<key>n\($0)</key>\(Self.uid($0))"
            }
            _ = archive.add(
                "<dict><key>$class</key>\(Self.uid(first - 2))\(members.joined())</dict>")
        }
        let bytes = archive.bytes(top: ["root": first])
        var limits = ArchiveLimits()
        (limits.values, limits.objectValues) = (5_000_000, 1_000)
        let told = Self.cut(bytes, limits: limits).0
        #expect(told.contains("has more than 1000 values when written out"), "\(told.prefix(200))")
        (limits.values, limits.objectValues) = (200_000, 200_000)
        #expect(Self.cut(bytes, limits: limits).0.contains("takes more values than are allowed"))
    }

    // MARK: Foundation's own archiver

    @Test func `A tree whose nodes know their parents is read as Foundation wrote it`() throws {
        let (root, child, leaf) = (TreeNode("root"), TreeNode("child"), TreeNode("leaf"))
        (root.children, child.parent) = ([child], root)
        (child.children, leaf.parent) = ([leaf], child)
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(root, forKey: "root")
        archiver.finishEncoding()
        let bytes = Array(archiver.encodedData)
        let failure = #expect(throws: ArchiveFailure.self) {
            try KeyedArchive(bytes).value(forKey: "root")
        }
        #expect(failure?.isReferenceBack == true)
        #expect(failure?.description.contains(".parent: refers back to root") == true)
        let (text, cuts) = Self.cut(bytes)
        let value = try JSONValue(parsing: text)
        #expect(value["children"]?[0]?["children"]?[0]?["name"]?.string == "leaf" && cuts == 2)
        #expect(!text.contains("parent"))
    }
}
