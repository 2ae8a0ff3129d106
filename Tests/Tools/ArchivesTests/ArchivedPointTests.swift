import Archives
import JSONText
import Testing

/// GeoPoints made of fields of degrees.
@Suite struct ArchivedPointTests {
    typealias Mapping = ArchivedRecords.PointMapping

    /// An object with these members as a document, or why there is none.
    private static func document(
        _ members: KeyValuePairs<String, String>, _ mappings: [Mapping], idField: String? = nil
    ) -> String {
        var archive = ArchiveText()
        let root = archive.instance(["MYShop", "NSObject"], members)
        var options = ArchivedRecords.Options()
        (options.geoPoints, options.idField) = (mappings, idField)
        do throws(ArchiveFailure) {
            let records = try ArchivedRecords(archive.bytes(top: ["root": root]), options: options)
            return try records.document(at: 0).text
        } catch {
            return error.description
        }
    }

    private static let flat = Mapping(latitude: "lat", longitude: "lon", field: "at")

    private static func degrees(_ latitude: String, _ longitude: String) -> String {
        document(["n": "<true/>", "lat": latitude, "lon": longitude], [flat])
    }

    @Test(arguments: [
        ("<real>1.5</real>", "<real>-2.5</real>", "1.5", "-2.5"),
        ("<integer>90</integer>", "<integer>-180</integer>", "90.0", "-180.0"),
        ("<integer>-90</integer>", "<real>180</real>", "-90.0", "180.0"),
    ])
    func `Two fields become a point behind the others`(
        _ latitude: String, _ longitude: String, _ lat: String, _ lon: String
    ) {
        #expect(
            Self.degrees(latitude, longitude)
                == #"{"n":true,"at":{"_type":"point","lat":\#(lat),"lon":\#(lon)}}"#)
    }

    @Test(arguments: [
        ("<real>90.0000001</real>", "<integer>0</integer>", "root: latitude 90.0000001 is outside"),
        ("<integer>0</integer>", "<integer>181</integer>", "root: longitude 181.0 is outside"),
        (
            "<string>north</string>", "<integer>0</integer>",
            "root.lat: expected a number of degrees"
        ),
        ("<integer>0</integer>", "<false/>", "root.lon: expected a number of degrees"),
        ("<integer>0</integer>", ArchiveText.uid(0), "root.lon: expected a number of degrees"),
    ])
    func `What are no degrees is refused with its path`(
        _ latitude: String, _ longitude: String, _ message: String
    ) {
        let told = Self.degrees(latitude, longitude)
        #expect(told.hasPrefix(message), "\(told)")
    }

    @Test func `An object with neither field stays as it is`() {
        #expect(Self.document(["n": "<true/>"], [Self.flat]) == #"{"n":true}"#)
    }

    private static let nested: KeyValuePairs = [
        "place":
            "<dict><key>lat</key><integer>1</integer><key>lon</key><integer>2</integer></dict>",
        "n": "<true/>",
    ]
    private static let point = #"{"_type":"point","lat":1.0,"lon":2.0}"#

    @Test(arguments: [
        // In place of the object that is then empty, beside it, inside it, under a new name.
        ("place", #"{"n":true,"place":\#(point)}"#),
        ("at", #"{"place":{},"n":true,"at":\#(point)}"#),
        ("place.at", #"{"place":{"at":\#(point)},"n":true}"#),
        ("place.lat", #"{"place":{"lat":\#(point)},"n":true}"#),
        ("a.b", #"{"place":{},"n":true,"a":{"b":\#(point)}}"#),
        ("n", "root.n: has something else already where the point belongs"),
        ("n.at", "root.n.at: lies inside something that is no object"),
    ])
    func `The paths of the fields and of the point may be nested`(
        _ field: String, _ expected: String
    ) {
        let mapping = Mapping(latitude: "place.lat", longitude: "place.lon", field: field)
        #expect(Self.document(Self.nested, [mapping]) == expected)
    }

    @Test func `A point does not replace an object that has more than the degrees`() {
        let members: KeyValuePairs = [
            "place":
                "<dict><key>lat</key><integer>1</integer><key>lon</key><integer>2</integer><key>s</key><true/></dict>"
        ]
        let mapping = Mapping(latitude: "place.lat", longitude: "place.lon", field: "place")
        #expect(
            Self.document(members, [mapping])
                == "root.place: has something else already where the point belongs")
    }

    @Test func `Pairs are replaced in their order, and the id is taken from what is left`() {
        let members: KeyValuePairs = [
            "lat": "<integer>1</integer>", "lon": "<integer>2</integer>",
            "toLat": "<integer>3</integer>", "toLon": "<integer>4</integer>",
        ]
        let to = Mapping(latitude: "toLat", longitude: "toLon", field: "lat")
        let both =
            #"{"at":\#(Self.point),"lat":{"_type":"point","lat":3.0,"lon":4.0}}"#
        #expect(Self.document(members, [Self.flat, to]) == both)
        #expect(
            Self.document(members, [to, Self.flat])
                == "root.lat: has something else already where the point belongs")
        #expect(
            Self.document(members, [Self.flat], idField: "toLat").hasPrefix(
                #"{"_id":"3","toLat":3"#))
        #expect(
            Self.document(members, [Self.flat], idField: "lat")
                == "root.lat: expected a string or a whole number")
    }
}
