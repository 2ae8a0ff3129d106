import CZlib
import Interchange
import Testing

/// Zip archives, damaged ones too.
@Suite struct ZipTests {
    struct Member {
        var name: String
        var text: String
        var isCompressed = true
        /// Whether its check sum is that of its contents.
        var isSound = true
    }

    /// An archive as `zip` writes it.
    static func archive(_ members: [Member]) -> [UInt8] {
        var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        for member in members {
            let text = Array(member.text.utf8)
            let stored = member.isCompressed ? deflated(text) : text
            let sum = Int(crc32(0, text, UInt32(text.count))) ^ (member.isSound ? 0 : 1)
            let fields =
                number(20, 2) + number(0, 2) + number(member.isCompressed ? 8 : 0, 2)
                + number(0, 4) + number(sum, 4) + number(stored.count, 4) + number(text.count, 4)
                + number(member.name.utf8.count, 2) + number(0, 2)
            let offset = bytes.count
            bytes += [0x50, 0x4B, 3, 4] + fields + Array(member.name.utf8) + stored
            directory +=
                [0x50, 0x4B, 1, 2] + number(20, 2) + fields + number(0, 6) + number(0, 4)
                + number(offset, 4) + Array(member.name.utf8)
        }
        let end =
            [0x50, 0x4B, 5, 6] + number(0, 4) + number(members.count, 2)
            + number(members.count, 2) + number(directory.count, 4) + number(bytes.count, 4)
            + number(0, 2)
        return bytes + directory + end
    }

    private static func deflated(_ text: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = text
        var output = [UInt8](repeating: 0, count: text.count + 100)
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }

    private static func found(_ members: [Member]) throws -> [String] {
        let file = TemporaryFile(archive(members), suffix: ".zip")
        return try lines(of: RecordFile(path: file.path, format: nil))
    }

    private static let table = "id,lat,lon\naa,1.5,2.5\n"
    private static let expected =
        #"2: {"id":"aa","location":{"_type":"point","lat":1.5,"lon":2.5}}"#

    @Test("The only file of a zip, the stops of a feed and the document of a KMZ are read")
    func members() throws {
        for isCompressed in [true, false] {
            let only = Member(name: "a.csv", text: Self.table, isCompressed: isCompressed)
            #expect(try Self.found([only]) == [Self.expected])
        }
        let feed = [
            Member(name: "feed/agency.txt", text: "x\n"),
            Member(name: "feed/stops.txt", text: Self.table),
        ]
        #expect(try Self.found(feed) == [Self.expected])
        let kml =
            "<kml><Placemark><Point><coordinates>2,1</coordinates></Point></Placemark></kml>"
        let map = [Member(name: "doc.kml", text: kml), Member(name: "files/a.png", text: "x")]
        #expect(
            try Self.found(map) == [#"1: {"location":{"_type":"point","lat":1.0,"lon":2.0}}"#])
    }

    @Test("A zip of several files is refused with their names, one of a shapefile by its kind")
    func several() {
        let two = [Member(name: "a.csv", text: "a"), Member(name: "b.csv", text: "b")]
        #expect { try Self.found(two) } throws: { "\($0)".contains("(a.csv, b.csv)") }
        let shape = [Member(name: "a.shp", text: "a"), Member(name: "a.dbf", text: "b")]
        #expect { try Self.found(shape) } throws: { "\($0)".contains("ogr2ogr") }
    }

    @Test("A file of a zip that is damaged is told with its name, after the records in it")
    func damaged() throws {
        for isCompressed in [true, false] {
            let member = Member(
                name: "a.csv", text: Self.table, isCompressed: isCompressed, isSound: false)
            let zip = TemporaryFile(Self.archive([member]), suffix: ".zip")
            let file = try RecordFile(path: zip.path, format: nil)
            #expect(try file.next()?.number == 2)
            #expect {
                try file.next()
            } throws: { "\($0)".contains("a.csv is damaged") }
        }
    }

    @Test("A zip cut anywhere is refused or read up to its fault")
    func cut() throws {
        let whole = Self.archive([Member(name: "a.csv", text: Self.table)])
        for count in 4..<whole.count {
            let file = TemporaryFile(whole.prefix(count), suffix: ".zip")
            #expect(throws: InterchangeError.self, "\(count)") {
                try lines(of: RecordFile(path: file.path, format: nil))
            }
        }
    }
}
