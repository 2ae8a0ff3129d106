import Foundation
import Objects
import TestSupport
import Testing

/// The table of limits, from which flags, environment, configuration file and `server.info` come.
@Suite struct LimitSettingTests {
    @Test func `every default is one that may be set, and every limit is set by one name`() {
        var limits = Limits()
        for setting in LimitSetting.all {
            #expect(setting.range.contains(limits[keyPath: setting.path]), "\(setting.name)")
            #expect(
                limits[keyPath: setting.path] != -1, "\(setting.name) sets what another one sets")
            limits[keyPath: setting.path] = -1
        }
        #expect(Set(LimitSetting.all.map(\.name)).count == LimitSetting.all.count)
        // Quotas are set by scope, not by a number.
        for (name, value) in Mirror(reflecting: limits).children where name != "quotas" {
            #expect(value as? Int == -1, "\(name ?? "") is no setting")
        }
    }

    @Test func `the manual's table is this one`() throws {
        let manual = Checkout.root.appending(path: "docs/protocol.md")
        let text = try String(contentsOf: manual, encoding: .utf8)
        let table = text.components(separatedBy: "\n## Limits\n").last!
            .split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let limits = Limits()
        let expected = LimitSetting.all.map { setting in
            let value = setting.defaultText ?? grouped(limits[keyPath: setting.path])
            return "| `\(setting.name)` | \(value) | \(setting.bounds) |"
        }
        #expect(table == expected)
    }

    /// `1,048,576` for 1048576.
    private func grouped(_ number: Int) -> String {
        let digits = String(number)
        return String(
            digits.enumerated().flatMap { position, digit in
                position > 0 && (digits.count - position) % 3 == 0 ? [",", digit] : [digit]
            })
    }
}
