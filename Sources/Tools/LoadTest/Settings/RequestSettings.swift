/// The subject and the parameters of the requests of a load.
public struct RequestSettings: Sendable {
    /// The bucket that is searched and written to.
    public var bucket: String
    /// The GeoPoint field that is searched and moved.
    public var field = "location"
    /// How often each kind of request is sent.
    public var mix: Mix
    /// The radius of circles, and half the side of boxes.
    public var radiusMeters = 5_000.0
    /// The radius of watches.
    public var watchRadiusMeters = 2_000.0
    /// The distance of one move, of an object or of a watch.
    public var moveMeters = 100.0
    /// The clause of `filter` as JSON text.
    public var filter: [UInt8] = Array(defaultFilter.utf8)
    /// The seed of all random choices: kinds, objects and places.
    public var seed: UInt64 = 1

    /// Half of the objects that a load test creates match it.
    static let defaultFilter = #"{"type":"range","field":"rating","lowerLimit":50}"#

    /// Settings for searches of 5 km and moves of 100 m, seed 1.
    public init(bucket: String, mix: Mix) {
        self.bucket = bucket
        self.mix = mix
    }
}
