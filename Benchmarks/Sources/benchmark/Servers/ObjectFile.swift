import Foundation
import JSONText
import SyntheticData
import Workloads

extension Dataset {
    /// Writes a file with one line for each object.
    func writeLines(to path: String, _ line: (Int, inout JSONWriter) -> Void) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw Failure("cannot write \(path)")
        }
        defer { try? file.close() }
        var writer = JSONWriter()
        for object in 0..<count {
            line(object, &writer)
            writer.byte(0x0A)
            if writer.count > 1 << 20 || object == count - 1 {
                try file.write(contentsOf: Data(writer.bytes))
                writer.removeAll()
            }
        }
    }
}
