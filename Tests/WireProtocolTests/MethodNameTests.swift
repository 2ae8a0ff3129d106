import Testing
import WireProtocol

@Suite struct MethodNameTests {
    @Test(arguments: MethodName.allCases)
    func `A method is found by its name`(_ method: MethodName) {
        #expect(MethodName("\(method.text)") == method)
    }

    @Test(arguments: ["", "server", "server.ping ", "Server.ping"])
    func `No other text is a method`(_ text: String) { #expect(MethodName(text) == nil) }

    @Test func `What changes objects, logs in or goes on from call to call is done once`() {
        let once = MethodName.allCases.filter { !$0.isRepeatable }
        #expect(
            Set(once).subtracting(MethodName.allCases.filter(\.isWrite))
                == [.login, .export, .check, .backup])
        #expect(!MethodName.allCases.contains { $0.isWrite && $0.isRepeatable })
    }
}
