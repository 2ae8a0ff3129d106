/// One line of a terminal.
public enum TerminalLine {
    /// A text without characters that control a terminal, cut to a width.
    ///
    /// - Parameter columns: nil cuts nothing.
    public static func fitted(_ text: String, to columns: Int?) -> String {
        let printable = TableCell.printable(text)
        return columns.map { DisplayWidth.cut(printable, to: $0) } ?? printable
    }
}
