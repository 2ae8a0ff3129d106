import Archives
import Foundation
import JSONText

/// `$objects` in the making: an archive of a test's own, as XML.
struct ArchiveText {
    private var objects = ["<string>$null</string>"]
    private var classes: [[String]: Int] = [:]

    /// The number of the next object.
    var count: Int { objects.count }

    static func uid(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }

    /// A dictionary's XML.
    static func dictionary(_ members: KeyValuePairs<String, String>) -> String {
        "<dict>" + members.map { "<key>\($0.key)</key>\($0.value)" }.joined() + "</dict>"
    }

    /// Appends an object; its number.
    mutating func add(_ xml: String) -> Int {
        objects.append(xml)
        return objects.count - 1
    }

    mutating func string(_ text: String) -> Int { add("<string>\(text)</string>") }

    /// Appends an instance; its number.
    mutating func instance(_ names: [String], _ members: KeyValuePairs<String, String>) -> Int {
        let known = classes[names]
        let number =
            known
            ?? add(
                Self.dictionary([
                    "$classname": "<string>\(names[0])</string>",
                    "$classes":
                        "<array>\(names.map { "<string>\($0)</string>" }.joined())</array>",
                ]))
        classes[names] = number
        let members = members.map { "<key>\($0.key)</key>\($0.value)" }.joined()
        return add("<dict><key>$class</key>\(Self.uid(number))\(members)</dict>")
    }

    mutating func list(_ elements: [Int]) -> Int {
        instance(
            ["NSArray", "NSObject"],
            ["NS.objects": "<array>\(elements.map(Self.uid).joined())</array>"])
    }

    func bytes(top: KeyValuePairs<String, Int>) -> [UInt8] {
        bytes(top: Self.dictionary(top))
    }

    private static func dictionary(_ top: KeyValuePairs<String, Int>) -> String {
        "<dict>" + top.map { "<key>\($0.key)</key>\(uid($0.value))" }.joined() + "</dict>"
    }

    func bytes(
        archiver: String = "NSKeyedArchiver", version: String = "100000", top: String
    ) -> [UInt8] {
        let members = Self.dictionary([
            "$version": "<integer>\(version)</integer>",
            "$archiver": "<string>\(archiver)</string>", "$top": top,
            "$objects": "<array>\(objects.joined())</array>",
        ])
        return Array("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\(members)</plist>".utf8)
    }
}

/// What reading an archive comes to: its JSON, or the failure's sentence.
func outcome(_ bytes: [UInt8], key: String = "root", limits: ArchiveLimits = .init()) -> String {
    var options = KeyedArchive.Options()
    options.limits = limits
    do throws(ArchiveFailure) {
        return try KeyedArchive(bytes, options: options).value(forKey: key).text
    } catch {
        return error.description
    }
}
