import Glibc

/// The file of a zip archive to read: its only one, the stops of a GTFS feed, or the document of a
/// KMZ file.
struct ZipEntry {
    let name: String
    /// Where its bytes begin.
    private(set) var offset: Int
    /// Its bytes in the archive.
    let storedBytes: Int
    let isCompressed: Bool
    /// The CRC-32 of its contents.
    let checkSum: UInt32

    private static let mainNames = ["stops.txt", "doc.kml"]

    /// The file in a zip that is read; nil for a file that is no zip.
    ///
    /// - Throws: for an archive with several files or none, and for one that cannot be read.
    static func find(in descriptor: Int32) throws(InterchangeError) -> ZipEntry? {
        guard let start = bytes(descriptor, at: 0, count: 4),
            start == [0x50, 0x4B, 3, 4] || start == [0x50, 0x4B, 5, 6]
        else { return nil }
        let entries = try entries(descriptor).filter {
            !$0.name.hasSuffix("/") && !$0.name.hasPrefix("__MACOSX/")
                && !$0.name.hasSuffix(".DS_Store")
        }
        if entries.contains(where: { $0.name.hasPrefix("xl/") }) {
            throw InputFormat.unreadable("an Excel workbook", instead: "save the sheet as CSV")
        }
        if entries.contains(where: { $0.name.lowercased().hasSuffix(".shp") }) {
            throw InputFormat.unreadable("a zipped shapefile")
        }
        let main = entries.first {
            mainNames.contains($0.name.split(separator: "/").last.map(String.init) ?? "")
        }
        guard var entry = main ?? (entries.count == 1 ? entries[0] : nil) else {
            let names = entries.prefix(8).map(\.name).joined(separator: ", ")
            throw InterchangeError(
                "is a zip of \(entries.count) files (\(names)); unpack the one to load: "
                    + "`unzip -p FILE NAME | geobucket load - --format … --bucket B`")
        }
        // The directory tells the place of the file's own header, behind which its bytes begin.
        guard let header = bytes(descriptor, at: entry.offset, count: 30),
            header.starts(with: [0x50, 0x4B, 3, 4])
        else { throw corrupt }
        guard number(header, 6, 2) & 1 == 0 else {
            throw InterchangeError("is a zip whose file \(entry.name) is encrypted; unpack it")
        }
        entry.offset += 30 + number(header, 26, 2) + number(header, 28, 2)
        return entry
    }

    /// The files that the central directory lists.
    private static func entries(_ descriptor: Int32) throws(InterchangeError) -> [ZipEntry] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let tailBytes = min(size, 65_557)
        guard let tail = bytes(descriptor, at: size - tailBytes, count: tailBytes),
            tail.count >= 22,
            let end = (0...(tail.count - 22)).last(where: {
                tail[$0...].starts(with: [0x50, 0x4B, 5, 6])
            })
        else { throw corrupt }
        let (length, start) = (number(tail, end + 12, 4), number(tail, end + 16, 4))
        guard length <= 16 << 20, start + length <= size,
            let directory = bytes(descriptor, at: start, count: length)
        else { throw corrupt }
        var entries: [ZipEntry] = []
        var at = 0
        while at + 46 <= directory.count, directory[at...].starts(with: [0x50, 0x4B, 1, 2]) {
            let nameBytes = number(directory, at + 28, 2)
            guard at + 46 + nameBytes <= directory.count else { throw corrupt }
            let method = number(directory, at + 10, 2)
            let name = String(decoding: directory[(at + 46)..<(at + 46 + nameBytes)], as: UTF8.self)
            guard method == 0 || method == 8 else {
                throw InterchangeError(
                    "is a zip whose file \(name) is compressed in a way that is not known; unpack it"
                )
            }
            entries.append(
                ZipEntry(
                    name: name, offset: number(directory, at + 42, 4),
                    storedBytes: number(directory, at + 20, 4), isCompressed: method == 8,
                    checkSum: UInt32(number(directory, at + 16, 4))))
            at += 46 + nameBytes + number(directory, at + 30, 2) + number(directory, at + 32, 2)
        }
        return entries
    }

    private static let corrupt = InterchangeError(
        "is a zip that is truncated or corrupt, or larger than 4 GiB; unpack it")

    /// A number of so many bytes, the lowest first.
    private static func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
    }

    private static func bytes(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = pread(descriptor, &bytes, count, offset)
        return found == count ? bytes : nil
    }
}
