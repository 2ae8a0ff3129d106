import CZlib
import Glibc
import Interchange
import Testing

/// Deletes its file when it goes.
final class TemporaryFile {
    let path: String

    init(_ bytes: some Sequence<UInt8>, suffix: String, compressed: Bool = false) {
        var template = Array("/tmp/interchange-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let content = Array(bytes)
        if compressed {
            let file = gzdopen(descriptor, "wb")
            if !content.isEmpty { gzwrite(file, content, UInt32(content.count)) }
            gzclose(file)
        } else {
            _ = write(descriptor, content, content.count)
            close(descriptor)
        }
    }

    convenience init(_ text: String, _ suffix: String, compressed: Bool = false) {
        self.init(text.utf8, suffix: suffix, compressed: compressed)
    }

    deinit { unlink(path) }

    var bytes: [UInt8] {
        var result: [UInt8] = []
        let file = fopen(path, "r")
        while case let byte = getc(file), byte != EOF { result.append(UInt8(byte)) }
        fclose(file)
        return result
    }
}

/// A record as tests compare it: `3: {"a":1}` or `4! field: reason`.
func lines(
    _ text: String, _ suffix: String, options: ReadingOptions = ReadingOptions(),
    format: InputFormat? = nil, compressed: Bool = false
) throws -> [String] {
    let file = TemporaryFile(text, suffix, compressed: compressed)
    return try lines(of: RecordFile(path: file.path, format: format, options: options))
}

func lines(of file: RecordFile) throws -> [String] {
    var result: [String] = []
    while let record = try file.next() {
        switch record.result {
        case .success(let text):
            result.append("\(record.number): \(String(decoding: text, as: UTF8.self))")
        case .failure(let error): result.append("\(record.number)! \(error)")
        }
    }
    return result
}

/// The message of what a file is refused with.
func refusal(
    _ text: String, _ suffix: String, options: ReadingOptions = ReadingOptions(),
    format: InputFormat? = nil
) -> String? {
    do {
        _ = try lines(text, suffix, options: options, format: format)
        return nil
    } catch {
        return "\(error)"
    }
}

/// All that a writer makes of some objects.
func written(
    _ format: OutputFormat, _ objects: [String], _ options: WritingOptions = WritingOptions()
) throws -> String {
    var writer = format.writer(options)
    var output: [UInt8] = []
    for object in objects { try writer.write(Array(object.utf8), to: &output) }
    try writer.finish(to: &output)
    return String(decoding: output, as: UTF8.self)
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
