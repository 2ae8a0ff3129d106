import Glibc
import Interchange
import Testing

@Suite struct ByteSourceTests {
    @Test("gzip is known by its first bytes, whatever the name")
    func gzipByMagic() throws {
        let text = "{\"a\":1}\n{\"a\":2}\n"
        let expected = ["1: {\"a\":1}", "2: {\"a\":2}"]
        #expect(try lines(text, ".ndjson.gz", compressed: true) == expected)
        #expect(try lines(text, ".ndjson", compressed: true) == expected)
        #expect(try lines(text, ".ndjson.gz", compressed: false) == expected)
    }

    @Test("Two gzip members behind each other are one text")
    func members() throws {
        let first = TemporaryFile("{\"a\":1}\n", ".gz", compressed: true)
        let second = TemporaryFile("{\"a\":2}\n", ".gz", compressed: true)
        let both = TemporaryFile(first.bytes + second.bytes, suffix: ".ndjson.gz")
        let file = try RecordFile(path: both.path, format: nil)
        #expect(try lines(of: file) == ["1: {\"a\":1}", "2: {\"a\":2}"])
    }

    @Test("A gzip file cut anywhere behind its first two bytes is reported as truncated")
    func truncated() throws {
        let whole = TemporaryFile(
            (0..<500).map { "{\"n\":\($0)}\n" }.joined(), ".gz", compressed: true
        ).bytes
        for count in [2, 5, 10, whole.count / 2, whole.count - 8, whole.count - 1] {
            let cut = TemporaryFile(whole.prefix(count), suffix: ".ndjson")
            #expect(throws: InterchangeError.self, "\(count) of \(whole.count) bytes") {
                try lines(of: RecordFile(path: cut.path, format: nil))
            }
        }
    }

    @Test("A gzip file that breaks off gives its whole lines first, long or short")
    func linesBeforeTheEnd() throws {
        for count in [500, 400_000] {
            let whole = TemporaryFile(
                (1...count).map { "{\"n\":\($0)}\n" }.joined(), ".gz", compressed: true
            ).bytes
            let cut = TemporaryFile(whole.prefix(whole.count / 2), suffix: ".ndjson.gz")
            let file = try RecordFile(path: cut.path, format: nil)
            var found = 0
            let error = #expect(throws: InterchangeError.self) {
                while let record = try file.next() {
                    found += 1
                    #expect(try record.result.get() == Array("{\"n\":\(found)}".utf8))
                }
            }
            #expect(error?.message.contains("truncated") == true)
            #expect((count / 10..<count).contains(found), "\(found) of \(count)")
        }
    }

    @Test("Bytes behind the end of the gzip stream are reported, after what is before them")
    func behindTheEnd() throws {
        let whole = TemporaryFile("{\"a\":1}\n", ".gz", compressed: true).bytes
        for rest in ["x", "{\"a\":2}\n"] {
            let both = TemporaryFile(whole + Array(rest.utf8), suffix: ".ndjson.gz")
            let file = try RecordFile(path: both.path, format: nil)
            #expect(try file.next()?.number == 1)
            let error = #expect(throws: InterchangeError.self) { try file.next() }
            #expect(error?.message == "there is text behind the end of the gzip stream")
        }
    }

    @Test("What has been written into a pipe is read, though the pipe stays open")
    func pipe() throws {
        let place = TemporaryFile("", ".ndjson")
        unlink(place.path)
        #expect(mkfifo(place.path, 0o600) == 0)
        let pipe = open(place.path, O_RDWR | O_CLOEXEC)
        _ = write(pipe, "{\"a\":1}\n", 8)
        let file = try RecordFile(path: place.path, format: nil)
        #expect(try file.next()?.number == 1)
        #expect(file.isWaiting)
        _ = write(pipe, "{\"a\":2}\n{\"a\":3}\n", 16)
        for number in 2...3 {
            #expect(!file.isWaiting)
            #expect(try file.next()?.number == number)
        }
        #expect(file.isWaiting)
        close(pipe)
        #expect(!file.isWaiting)
        #expect(try file.next()?.number == nil)
    }

    @Test("Corrupt gzip is reported")
    func corrupt() throws {
        var bytes = TemporaryFile(
            (0..<500).map { "{\"n\":\($0)}\n" }.joined(), ".gz", compressed: true
        ).bytes
        bytes[bytes.count - 6] ^= 0xFF  // in the checksum
        let file = TemporaryFile(bytes, suffix: ".ndjson.gz")
        #expect {
            try lines(of: RecordFile(path: file.path, format: nil))
        } throws: { error in
            "\(error)".contains("corrupt")
        }
    }

    @Test("A missing file and a directory are refused with a reason")
    func notFiles() {
        #expect {
            try RecordFile(path: "/nowhere/at.ndjson", format: nil)
        } throws: { "\($0)".contains("No such file") }
        #expect {
            try RecordFile(path: "/tmp", format: .ndjson)
        } throws: { "\($0)".contains("directory") }
    }

    @Test("Progress counts bytes of the file on disk, compressed or not, and ends at its size")
    func progress() throws {
        for compressed in [false, true] {
            let text = (0..<5000).map { "{\"n\":\($0)}\n" }.joined()
            let content = TemporaryFile(text, ".ndjson", compressed: compressed)
            let file = try RecordFile(path: content.path, format: nil)
            #expect(file.totalBytes == content.bytes.count)
            #expect(try lines(of: file).count == 5000)
            #expect(file.consumedBytes == content.bytes.count)
        }
    }

    @Test("An empty file has no records, compressed or not")
    func empty() throws {
        #expect(try lines("", ".ndjson") == [])
        #expect(try lines("", ".geojson") == [])
        #expect(try lines("", ".ndjson.gz", compressed: true) == [])
    }

    @Test(
        "The name tells the format, in any case and with .gz behind it",
        arguments: [
            ("a.ndjson", InputFormat.ndjson), ("a.jsonl", .ndjson), ("a.JSON", .ndjson),
            ("a.csv", .csv), ("a.geojson", .geojson), ("a.tsv", .tsv), ("a.CSV.GZ", .csv),
        ])
    func formats(_ name: String, _ format: InputFormat) throws {
        let file = TemporaryFile("a\n", "." + name.split(separator: ".", maxSplits: 1)[1])
        #expect(try RecordFile(path: file.path, format: nil).format == format)
    }

    @Test("What neither its name nor its beginning tells asks for --format")
    func unknownFormat() {
        for suffix in [".xyz", ".gz", ""] {
            let said = refusal("\u{1}\u{2}\n", suffix)
            #expect(said?.contains("--format, one of ndjson, json, geojson") == true)
            #expect(refusal("", suffix)?.contains("empty") == true)
        }
    }

    @Test("A property list is known by its name and by its bytes")
    func propertyLists() throws {
        #expect(refusal("", ".plist")?.contains("property list") == true)
        #expect(refusal("", ".plist.gz")?.contains("property list") == true)
        let bytes = "bplist00" + String(repeating: "x", count: 100)
        for suffix in [".json", ".csv", ".ndjson"] {
            #expect(refusal(bytes, suffix)?.contains("property list") == true, "\(suffix)")
        }
        #expect(refusal("a\nbplist00\n", ".csv") == nil)
        let list =
            "<?xml version=\"1.0\"?><plist><array><dict><key>a</key><integer>1</integer>"
            + "</dict></array></plist>"
        #expect(try lines(list, ".plist") == ["1: {\"a\":1}"])
    }

    @Test(".json is NDJSON unless it begins like GeoJSON")
    func sniffing() throws {
        #expect(try lines("{\"type\":\"shop\"}", ".json") == ["1: {\"type\":\"shop\"}"])
        let collection =
            "\n{ \"name\": \"x\", \"type\" : \"FeatureCollection\", \"features\": [ ] }"
        #expect(try lines(collection, ".json") == [])
        let feature = #"{"type":"Feature","geometry":null,"properties":{"a":1}}"#
        #expect(try lines(feature, ".json") == ["1: {\"a\":1}"])
    }
}
