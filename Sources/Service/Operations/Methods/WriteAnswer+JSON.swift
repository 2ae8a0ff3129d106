import Backend
import JSONText

extension WriteAnswer {
    /// Appends the result of a write.
    public func write(for write: Write, into writer: inout JSONWriter) {
        switch (write, self) {
        case (.putMany, .stored(let stored)):
            writer.raw("{\"objects\":[")
            writer.list(stored) { metadata, writer in
                writer.raw("{\"_id\":")
                writer.string(metadata.id.text)
                writer.key("_version")
                writer.integer(metadata.version)
                writer.byte(UInt8(ascii: "}"))
            }
            writer.raw("]}")
        case (_, .stored(let stored)):
            writer.byte(UInt8(ascii: "{"))
            for metadata in stored { metadata.write(to: &writer) }
            writer.byte(UInt8(ascii: "}"))
        case (.delete, .deleted): writer.raw("{}")
        case (_, .deleted(let count)):
            writer.raw("{\"deleted\":")
            writer.integer(count)
            writer.byte(UInt8(ascii: "}"))
        }
    }
}
