import Foundation

/// A Markdown table: the first column to the left, numbers to the right.
struct Table {
    private var lines: [String]

    init(_ columns: [String]) {
        lines = ["| " + columns.joined(separator: " | ") + " |"]
        lines.append("| --- |" + String(repeating: " ---: |", count: columns.count - 1))
    }

    mutating func add(_ cells: [String]) {
        lines.append("| " + cells.joined(separator: " | ") + " |")
    }

    var isEmpty: Bool { lines.count == 2 }

    var text: String { lines.joined(separator: "\n") + "\n" }
}

/// Three digits or so: `12.3`, `1,234`; a dash for what was not measured.
func figure(_ value: Double?, _ unit: String = "") -> String {
    guard let value else { return "–" }
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    var text = String(format: "%.\(digits)f", value)
    if digits == 0 {
        var end = text.endIndex
        while let comma = text.index(end, offsetBy: -3, limitedBy: text.startIndex),
            comma > text.startIndex
        {
            text.insert(",", at: comma)
            end = comma
        }
    }
    return text + unit
}

/// Two digits of a small number: `0.31`, `5e-07`.
func small(_ value: Double, _ unit: String) -> String { String(format: "%.2g", value) + unit }

/// `3.4×`
func ratio(_ a: Double?, to b: Double?) -> String {
    guard let a, let b, b > 0 else { return "–" }
    return figure(a / b) + "×"
}
