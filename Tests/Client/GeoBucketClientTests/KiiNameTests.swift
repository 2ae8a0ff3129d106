import KiiCompatibility
import TestSupport
import Testing

/// What every object of Kii's SDK could do, and the names that only code written for it uses.
@Suite struct KiiNameTests {
    @Test func `Objects are compared and hashed by their identity, whatever is changed in them`()
        async throws
    {
        try await withBucket { bucket in
            let object = bucket.createObject()
            let set: Set<KiiObject> = [object]
            object.setObject(1, forKey: "n")
            try await object.save()
            #expect(set.contains(object) && object == object)
            let other = try await bucket.object(withID: object.uuid!)
            #expect(object != other && other.uuid == object.uuid && !set.contains(other))
            #expect([other, object].firstIndex(of: object) == 1)
        }
    }

    @Test func `The description of an object is its bucket and its document`() {
        let object = ServiceClient().bucket("shops").createObject(withID: "7")
        object.setObject("100 % Kiosk", forKey: "name")
        #expect(object.description == #"shops {"_id":"7","name":"100 % Kiosk"}"#)
        #expect("\(object)" == object.description)
        object.describe()
    }

    @Test func `A query tells the field that it sorts by`() {
        let query = KiiQuery(clause: nil)
        #expect(query.sortField == nil && !query.sortDescending)
        query.sort(byDesc: "score")
        #expect(query.sortField == "score" && query.sortDescending)
        query.sort(byAsc: "age")
        #expect(query.sortField == "age" && !query.sortDescending)
    }

    @Test func `The field types have the names of older SDKs too`() {
        let types = [
            KiiFieldTypeString, KiiFieldTypeInteger, KiiFieldTypeDecimal, KiiFieldTypeBoolean,
        ]
        #expect(types.map(\.rawValue) == ["STRING", "INTEGER", "DECIMAL", "BOOLEAN"])
    }
}
