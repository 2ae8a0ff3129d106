import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Decimals go out and come in by their digits.
@Suite struct DecimalTests {
    private static let texts = [
        "19.99", "0.1", "-12.34", "0.07", "1234567890.12", "100", "0", "18446744073709551616",
        "0.1234567890123456789", "123456789012345678901234567890", "1e-20",
        "12345678901234567890123456789012345678",
    ]

    @Test(arguments: texts)
    func `A decimal is sent and read by its digits`(_ text: String) async throws {
        struct Price: Codable, Sendable {
            var amount: Decimal
            var list: [Decimal?]
            var named: [String: Decimal]
        }
        let decimal = try #require(Decimal(string: text))
        #expect(try decimal.jsonValue.decimal == decimal)
        try await withBucket { bucket in
            let object = bucket.createObject(withID: "price")
            object.setObject(NSDecimalNumber(string: text), forKey: "number")
            object.setObject(decimal, forKey: "decimal")
            object.setObject(["x": NSDecimalNumber(string: text)], forKey: "deep")
            try await object.saveAllFields()
            #expect(try await Self.text(bucket).contains(#""number":\#(text),"#))
            let read = try await bucket.object(withID: "price")
            #expect(read.decimal(forKey: "number") == decimal)
            #expect(read.decimal(forKey: "decimal") == decimal)
            #expect(read["deep"]?["x"]?.decimal == decimal)
            #expect(try read.value(Decimal.self, forKey: "number") == decimal)
            var price = Price(amount: decimal, list: [decimal, nil], named: ["x": decimal])
            var stored = try await bucket.save(price, withID: "price")
            price = try await bucket.object(of: Price.self, withID: "price").model
            #expect(price.amount == decimal && price.list == [decimal, nil])
            #expect(price.named == ["x": decimal])
            stored.model.amount += Decimal(string: "0.01")!
            try await bucket.save(&stored)
            price = try await bucket.object(of: Price.self, withID: "price").model
            #expect(price.amount == decimal + Decimal(string: "0.01")!)
        }
    }

    private static func text(_ bucket: Bucket) async throws -> String {
        let params = #"{"bucket":"mydata","id":"price"}"#
        let answer = try await bucket.client.callText("object.get", Array(params.utf8))
        return String(decoding: answer, as: UTF8.self)
    }

    @Test func `Numbers of any spelling are read as the decimal that they say`() throws {
        for (text, decimal) in [
            ("12.34", "12.34"), ("12.10", "12.1"), ("1e3", "1000"), ("3.0", "3"),
            ("1e100", "1e100"),
            ("1.152921504606847e18", "1152921504606847000"),
            ("9007199254740993", "9007199254740993"),
        ] {
            #expect(try JSONValue(parsing: text).decimal == Decimal(string: decimal), "\(text)")
        }
    }

    @Test func `What a decimal has no room for is refused`() throws {
        for text in ["1e200", "1e-200", "1.2345678901234567890123456789012345678901"] {
            let value = try JSONValue(parsing: text)
            #expect(value.decimal == nil, "\(text)")
            #expect(throws: JSONMismatch.self) { try value.decode(Decimal.self) }
        }
        #expect(throws: JSONMismatch("expected a number, found a string")) {
            try JSONValue.string("1").decode(Decimal.self)
        }
        #expect(throws: JSONMismatch("NaN has no JSON spelling")) { try Decimal.nan.jsonValue }
        #expect(throws: JSONMismatch.self) { try JSONValue(foundation: NSDecimalNumber.notANumber) }
    }

    @Test func `Clauses compare with decimals`() throws {
        let price = Field<Decimal>("price")
        let clause = price >= Decimal(string: "19.99")!
        #expect(
            clause.json.text == #"{"type":"range","field":"price","lowerLimit":19.99}"#)
        #expect(
            Clause.equals("price", value: NSDecimalNumber(string: "0.1")).json.text
                == #"{"type":"eq","field":"price","value":0.1}"#)
    }
}
