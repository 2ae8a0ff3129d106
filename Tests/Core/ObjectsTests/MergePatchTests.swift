import JSONText
import Objects
import TestSupport
import Testing

/// JSON Merge Patch against the cases of its standard and against a plain copy of its algorithm.
@Suite struct MergePatchTests {
    private func merged(
        _ target: String, _ patch: String, storingNulls: Bool = false
    ) throws -> String {
        try JSONParser.reading(Array(target.utf8)) { target in
            try JSONParser.reading(Array(patch.utf8)) { patch in
                String(
                    decoding: MergePatch.apply(patch, to: target, storingNulls: storingNulls),
                    as: UTF8.self)
            }
        }
    }

    /// Those of the standard's examples whose document and patch are objects; the others are held
    /// under a member, where they mean the same.
    static let cases: [(String, String, String)] = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"{"v":["a","b"]}"#, #"{"v":["c","d"]}"#, #"{"v":["c","d"]}"#),
        (#"{"v":{"a":"b"}}"#, #"{"v":["c"]}"#, #"{"v":["c"]}"#),
        (#"{"v":{"a":"foo"}}"#, #"{"v":"bar"}"#, #"{"v":"bar"}"#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
        (#"{"v":[1,2]}"#, #"{"v":{"a":"b","c":null}}"#, #"{"v":{"a":"b"}}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ("{}", "{}", "{}"), (#"{"a":{"b":1}}"#, #"{"a":{}}"#, #"{"a":{"b":1}}"#),
    ]

    @Test(arguments: cases)
    func `The standard's examples hold`(_ target: String, _ patch: String, _ outcome: String)
        throws
    {
        #expect(try merged(target, patch) == outcome)
    }

    @Test func `What a patch does not name stays as it was spelled`() throws {
        #expect(
            try merged(#"{"\u0061":1.0,"b":{"x":1e5,"y":"\/"}}"#, #"{"b":{"z":-0}}"#)
                == #"{"\u0061":1.0,"b":{"x":1e5,"y":"\/","z":-0}}"#)
    }

    @Test func `Names are the same by code point, however they are escaped`() throws {
        #expect(try merged(#"{"\u0061":1,"b":2}"#, #"{"a":null}"#) == #"{"b":2}"#)
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let outcome = try merged(#"{"\#(composed)":1}"#, #"{"\#(decomposed)":null}"#)
        #expect(outcome.utf8.elementsEqual(#"{"\#(composed)":1}"#.utf8))
    }

    @Test func `Predefined names of a patch are left out`() throws {
        #expect(try merged(#"{"a":1}"#, #"{"_id":"x","_version":null,"b":2}"#) == #"{"a":1,"b":2}"#)
    }

    // MARK: The oracle

    /// The algorithm of section 2, on values; with `storingNulls` its line about null is left out.
    private func apply(
        _ patch: JSONValue, to target: JSONValue?, storingNulls: Bool
    ) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [JSONValue.Member] = []
        if case .object(let old) = target { members = old }
        for change in changes {
            let position = members.firstIndex { $0.name == change.name }
            if change.value == .null, !storingNulls {
                if let position { members.remove(at: position) }
            } else if let position {
                members[position].value = apply(
                    change.value, to: members[position].value, storingNulls: storingNulls)
            } else {
                members.append(
                    .init(
                        change.name, apply(change.value, to: nil, storingNulls: storingNulls)))
            }
        }
        return .object(members)
    }

    private func value(_ random: inout SplitMix64, depth: Int) -> JSONValue {
        switch random.below(depth > 3 ? 4 : 8) {
        case 0: return .null
        case 1: return .int(random.below(5))
        case 2: return .string("s\(random.below(3))")
        case 3: return .array(depth > 3 ? [] : [value(&random, depth: depth + 1)])
        default: return object(&random, depth: depth + 1)
        }
    }

    private func object(_ random: inout SplitMix64, depth: Int = 0) -> JSONValue {
        let names = ["a", "b", "c", "d", "e"].shuffled(using: &random).prefix(random.below(5))
        return .object(names.map { .init($0, value(&random, depth: depth)) })
    }

    @Test(arguments: [1...500 as ClosedRange<UInt64>])
    func `Generated patches do what the standard's algorithm does`(_ seeds: ClosedRange<UInt64>)
        throws
    {
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            let (target, patch) = (object(&random), object(&random))
            for storingNulls in [false, true] {
                let expected = apply(patch, to: target, storingNulls: storingNulls)
                #expect(
                    try merged(target.text, patch.text, storingNulls: storingNulls)
                        == expected.text,
                    "seed \(seed): \(patch.text) on \(target.text)")
            }
        }
    }
}
