/// A record that was skipped, as it goes to the file of rejects: a note with its number and the
/// reason, then the record as it came. Readers pass over the notes, so that the file can be mended
/// and loaded.
///
///     # line 17: lat: "91" is outside -90...90 degrees
///     x17,Bech,91,6.5
public enum Rejection {
    /// The lines of one record.
    ///
    /// - Parameter recordName: what records of the file are called: `line`, `feature`.
    public static func lines(
        _ recordName: String, _ number: Int, _ reason: String, source: [UInt8]
    ) -> [UInt8] {
        let reason = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        let end = source.last == UInt8(ascii: "\n") ? "" : "\n"
        return Array("# \(recordName) \(number): \(reason)\n".utf8) + source + Array(end.utf8)
    }

    private static let beginnings = ["# line ", "# feature ", "# element ", "# object "].map {
        Array($0.utf8)
    }

    /// Whether a text begins like a note.
    static func isNote(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "#"),
            let beginning = beginnings.first(where: { text.starts(with: $0) })
        else { return false }
        let rest = text.dropFirst(beginning.count)
        let digits = rest.prefix { (0x30...0x39).contains($0) }.count
        return digits > 0 && rest.dropFirst(digits).first == UInt8(ascii: ":")
    }

    /// Moves past a note that the window begins with; false if it begins with none.
    static func skipNote(in window: ByteWindow) throws(InterchangeError) -> Bool {
        guard window.bytes.first == UInt8(ascii: "#"), let line = try window.line(),
            isNote(window.prefix(line))
        else { return false }
        window.consume(line)
        return true
    }
}
