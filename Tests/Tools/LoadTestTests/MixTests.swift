import TestSupport
import Testing

@testable import LoadTest

@Suite struct MixTests {
    @Test func `A mix is read as it is written`() throws {
        let mix = try Mix("radius=60,nearest,move=8")
        #expect(mix.weights.map(\.weight) == [60, 1, 8])
        #expect(mix.description == "radius=60,nearest=1,move=8")
        #expect(try Mix(mix.description) == mix)
    }

    @Test(arguments: [
        "", "radius=", "radius=0", "radius=-1", "radius=1.5", "radius=1000001", "teleport=1",
        "radius=1,,box=1", "radius=1,radius=2", "radius=1=2", " radius=1",
    ])
    func `What is no mix is refused`(_ text: String) {
        #expect(throws: LoadFailure.self) { try Mix(text) }
    }

    @Test func `A refusal names the part at fault`() {
        #expect(throws: LoadFailure("the weight in \"box=x\" is outside 1...1000000")) {
            try Mix("radius=1,box=x")
        }
    }

    @Test func `Kinds are drawn by their weights`() throws {
        let mix = try Mix("radius=70,move=29,create=1")
        var random = SplitMix64(seed: 3)
        var drawn: [RequestKind: Int] = [:]
        for _ in 0..<100_000 { drawn[mix.pick(&random), default: 0] += 1 }
        for weight in mix.weights {
            let expected = Double(weight.weight) * 1_000
            // Ten standard deviations, for a seed that is always the same.
            #expect(abs(Double(drawn[weight.kind]!) - expected) < 10 * expected.squareRoot())
        }
    }
}
