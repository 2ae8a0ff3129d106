import Glibc

/// A time in HTTP's format (RFC 9110, 5.6.7).
///
///     httpDate(784_111_777)       // "Sun, 06 Nov 1994 08:49:37 GMT"
///
/// - Parameter seconds: since 1970.
package func httpDate(_ seconds: Int64) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    // The names are English, since the program sets no locale.
    return String(unsafeUninitializedCapacity: 40) { text in
        text.withMemoryRebound(to: CChar.self) {
            strftime($0.baseAddress!, $0.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        }
    }
}
