import BackendContract
import Glibc
import Interchange
import JSONText
import Objects

/// Files as people have them, and the mappings that they are loaded with.
enum FileTargets {
    /// Whatever a file holds: what is loaded of it can be stored, and the flags that say what was found
    /// out load the same.
    ///
    /// - Parameter format: nil where the file's name tells nothing.
    static func file(_ bytes: [UInt8], as format: InputFormat?) {
        // In memory, and without a name.
        var name = Array("/dev/shm/fuzz-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        unlink(name)
        defer { close(file) }
        precondition(write(file, bytes, bytes.count) == bytes.count)
        let path = "/proc/self/fd/\(file)"
        guard let opened = try? RecordFile(path: path, format: format) else { return }
        let found = opened.understanding
        _ = found.summary
        let records = records(of: opened)
        let options = options(found.flags, found.mapping)
        let again = try? RecordFile(path: path, format: found.format, options: options)
        precondition(again != nil, "refused with \(found.flags)")
        precondition(Self.records(of: again!) == records, "otherwise with \(found.flags)")
    }

    /// The objects, and nil for each record that is none.
    private static func records(of file: RecordFile) -> [[UInt8]?] {
        var records: [[UInt8]?] = []
        while records.count < 5_000, let record = try? file.next() {
            let object = try? record.result.get()
            if let object { check(object) }
            records.append(object)
        }
        return records
    }

    /// An object on one line that the service takes.
    private static func check(_ object: [UInt8]) {
        precondition(!object.contains(0x0A), "more than one line")
        var fault: String? = "no JSON"
        try? JSONParser.reading(object) { view in
            do throws(ServiceFailure) {
                _ = try WrittenDocument(view, at: "object", limits: Limits())
                fault = nil
            } catch {
                fault = "\(error)"
            }
        }
        precondition(fault == nil, fault ?? "")
    }

    /// What `flags` of `RecordFile.understanding` say, besides the mapping.
    private static func options(_ flags: [String], _ mapping: Mapping) -> ReadingOptions {
        var options = ReadingOptions()
        options.mapping = mapping
        var rest = flags[...]
        while let flag = rest.popFirst() {
            if flag == "--no-header" { options.table.hasHeader = false }
            guard let value = rest.first else { break }
            switch flag {
            case "--separator": options.table.separator = value == "tab" ? 9 : value.utf8.first
            case "--text": options.table.types[value] = .text
            case "--number": options.table.types[value] = .number(comma: true)
            case "--boolean": options.table.types[value] = .boolean
            case "--encoding": options.encoding = TextEncoding(named: value)
            case "--records": options.records = value
            default: continue
            }
            rest.removeFirst()
        }
        return options
    }

    /// The first byte says what becomes of lines and areas, the rest is the text of a place: it
    /// becomes GeoPoints, which stay as they are when they are mapped again.
    static func place(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        var mapping = Mapping()
        mapping.places = [PlaceRule(field: "p", source: .value("p"))]
        mapping.geometry = GeometryRule.allCases[Int(first) % GeometryRule.allCases.count]
        if first & 0x80 != 0 { mapping.crs = .webMercator }
        let records = MappedRecords(mapping, limits: Limits())
        var writer = JSONWriter()
        writer.raw("{\"p\":")
        writer.string(String(decoding: bytes.dropFirst(), as: UTF8.self))
        writer.raw("}")
        guard let object = try? records.record(1, writer.bytes).result.get() else { return }
        check(object)
        let again = try? records.record(2, object).result.get()
        precondition(again == object, "mapped again it is another")
    }

    /// A file of flags: each rule that can be read is spelled so that it is read again, and words in
    /// quotes are the words.
    static func mapping(_ bytes: [UInt8]) {
        let words = FlagWords.split(String(decoding: bytes, as: UTF8.self))
        precondition(FlagWords.split(words.map(FlagWords.quoted).joined(separator: " ")) == words)
        for word in words {
            if let rule = try? PlaceRule(word) {
                precondition((try? PlaceRule(rule.text)) == rule, rule.text)
            }
            if let rule = try? UnderscoreRule(word) {
                var mapping = Mapping()
                mapping.underscores = rule
                precondition((try? UnderscoreRule(mapping.flags.last ?? "refuse")) == rule)
            }
            if let system = ReferenceSystem(word) {
                precondition(ReferenceSystem(system.name) == system)
            }
            precondition(EscapedID.isValid(EscapedID.text(word.isEmpty ? "x" : word)), word)
            _ = try? Mapping.Rename(word)
            _ = TextEncoding(named: word)
        }
    }
}
