import ServiceDesk
import Testing

@Suite struct MethodNameTests {
    @Test(arguments: MethodName.allCases)
    func `A method is found by its name`(_ method: MethodName) {
        #expect(MethodName("\(method.text)") == method)
    }

    @Test(arguments: ["", "server", "server.ping ", "Server.ping"])
    func `No other text is a method`(_ text: String) { #expect(MethodName(text) == nil) }
}
