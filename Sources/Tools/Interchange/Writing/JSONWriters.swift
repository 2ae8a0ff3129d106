/// One JSON object on each line.
struct NDJSONWriter: ObjectWriter {
    func write(_ object: [UInt8], to output: inout [UInt8]) {
        output += object
        output.append(UInt8(ascii: "\n"))
    }

    func finish(to output: inout [UInt8]) {}
}

/// One JSON array, each object on a line of its own.
struct JSONArrayWriter: ObjectWriter {
    private var isEmpty = true

    mutating func write(_ object: [UInt8], to output: inout [UInt8]) {
        output += (isEmpty ? "[\n  " : ",\n  ").utf8
        output += object
        isEmpty = false
    }

    func finish(to output: inout [UInt8]) { output += (isEmpty ? "[]\n" : "\n]\n").utf8 }
}
