import Glibc
import Runtime

/// A moment as the names of files have it: `20261128T093000Z`, in seconds and UTC.
struct BackupTime: Comparable {
    /// Since 1970.
    let seconds: Int

    static var now: BackupTime { BackupTime(milliseconds: wallMilliseconds()) }

    init(milliseconds: Int64) { seconds = Int(milliseconds / 1_000) }

    /// Nil for a text that no moment has.
    init?(_ text: Substring) {
        let digits = Array(text.utf8)
        guard digits.count == 16 else { return nil }
        func number(_ range: Range<Int>) -> Int32 {
            Int32(String(decoding: digits[range], as: UTF8.self)) ?? -1
        }
        var parts = tm()
        parts.tm_year = number(0..<4) - 1_900
        parts.tm_mon = number(4..<6) - 1
        parts.tm_mday = number(6..<8)
        parts.tm_hour = number(9..<11)
        parts.tm_min = number(11..<13)
        parts.tm_sec = number(13..<15)
        seconds = timegm(&parts)
        guard self.text == text else { return nil }
    }

    private static let format = "%Y%m%dT%H%M%SZ"

    var text: String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        return String(unsafeUninitializedCapacity: 24) { text in
            text.withMemoryRebound(to: CChar.self) {
                strftime($0.baseAddress!, $0.count, Self.format, &parts)
            }
        }
    }

    static func < (left: BackupTime, right: BackupTime) -> Bool { left.seconds < right.seconds }
}
