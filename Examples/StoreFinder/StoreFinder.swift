// Finds shops: `StoreFinder HOST:PORT LATITUDE LONGITUDE`.
import GeoBucketClient

struct Shop: Codable, Sendable {
    var name: String
    var kind: Kind
    var open: Bool
    var location: GeoPoint
    var seats: Int?

    enum Kind: String, Codable, Sendable { case cafe, bakery }
}

let samples = [
    Shop(
        name: "Tower Café", kind: .cafe, open: true,
        location: GeoPoint(latitude: 35.6586, longitude: 139.7454), seats: 24),
    Shop(
        name: "Night Bakery", kind: .bakery, open: false,
        location: GeoPoint(latitude: 35.6595, longitude: 139.7466)),
    Shop(
        name: "Station Café", kind: .cafe, open: true,
        location: GeoPoint(latitude: 35.6812, longitude: 139.7671), seats: 60),
]

func fill(_ shops: Bucket) async throws {
    for (number, shop) in samples.enumerated() {
        try await shops.save(shop, withID: "shop-\(number)")
    }
}

func nearestOpen(_ shops: Bucket, to here: GeoPoint) async throws -> [Stored<Shop>] {
    let open = Field<Bool>("open")
    let location = Field<GeoPoint>("location")
    let query = BucketQuery(
        clause: open == true && location.isWithin(5_000, of: here, putDistanceInto: "meters"))
    query.sort(byAsc: "_calculated.meters")
    query.limit = 20
    var found: [Stored<Shop>] = []
    for try await shop in shops.objects(of: Shop.self, matching: query) { found.append(shop) }
    return found
}

func close(_ shops: Bucket, _ id: String) async throws {
    while true {
        var shop = try await shops.object(of: Shop.self, withID: id)
        shop.model.open = false
        do {
            return try await shops.save(&shop)
        } catch ClientFailure.refused(let failure) where failure.reason == .versionIsStale {
            continue  // somebody was faster: look again
        }
    }
}

@main struct StoreFinder {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let address = ServiceAddress(arguments[1]),
            let latitude = Double(arguments[2]), let longitude = Double(arguments[3])
        else { return print("usage: StoreFinder HOST:PORT LATITUDE LONGITUDE") }
        let here = GeoPoint(latitude: latitude, longitude: longitude)
        try await GeoBucketClient.with(address) { client in
            let shops = client.bucket("shops")
            try await fill(shops)
            for shop in try await nearestOpen(shops, to: here) {
                print(shop.model.name, Int(shop.distance("meters") ?? 0), "m")
            }
            try await close(shops, "shop-0")
            let left = try await shops.count(BucketQuery(clause: .equals("open", value: true)))
            print(left, "open")
        }
    }
}
