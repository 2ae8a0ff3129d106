import BackendContract
import JSONText

extension WriteAnswer {
    /// Appends the result of a write.
    ///
    /// - Parameter change: the number of a change that includes the write, for reads on other nodes.
    public func write(
        for write: Write, change: ChangeNumber? = nil, into writer: inout JSONWriter
    ) {
        self.write(for: write, into: &writer)
        guard let change else { return }
        let isEmpty = if case (.delete, .deleted) = (write, self) { true } else { false }
        writer.truncate(to: writer.count - 1)
        writer.raw(isEmpty ? "\"change\":" : ",\"change\":")
        writer.integer(Int(change))
        writer.byte(UInt8(ascii: "}"))
    }

    private func write(for write: Write, into writer: inout JSONWriter) {
        switch (write, self) {
        case (.putMany, .stored(let stored)):
            writer.raw("{\"objects\":[")
            // Of ten thousand results, each copy would count the references of all its parts.
            stored.withUnsafeBufferPointer { stored in
                writer.list(stored.indices) { stored[$0].writeVersion(to: &$1) }
            }
            writer.raw("]}")
        case (_, .stored(let stored)):
            if let kept = stored.first, !kept.isWritten { return kept.writeVersion(to: &writer) }
            writer.byte(UInt8(ascii: "{"))
            for object in stored {
                object.metadata.write(to: &writer)
                guard let document = object.document else { continue }
                writer.key("object")
                writer.raw(object.metadata.document(around: document))
            }
            writer.byte(UInt8(ascii: "}"))
        case (.delete, .deleted): writer.raw("{}")
        case (_, .deleted(let count)):
            writer.raw("{\"deleted\":")
            writer.integer(count)
            writer.byte(UInt8(ascii: "}"))
        }
    }
}

extension WriteResult {
    /// Appends the id and the version, and `written` when it is false.
    fileprivate func writeVersion(to writer: inout JSONWriter) {
        var id = metadata.id.text
        // An answer may have ten thousand. An id has no character that JSON would escape.
        id.withUTF8 { id in
            writer.write(atMost: id.count + 80) { cursor in
                cursor.raw("{\"_id\":\"")
                cursor.raw(id)
                cursor.raw("\",\"_version\":")
                cursor.integer(metadata.version)
                cursor.raw(isWritten ? "}" : ",\"written\":false}")
            }
        }
    }
}
