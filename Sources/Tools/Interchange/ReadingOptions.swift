import Objects

/// How records become objects.
public struct ReadingOptions: Sendable {
    /// The field that receives the point of CSV columns or of a GeoJSON geometry.
    public var pointField = "location"
    /// CSV columns of degrees; both or none.
    public var latitudeColumn: String?
    /// The CSV column of longitudes; see `latitudeColumn`.
    public var longitudeColumn: String?
    /// CSV column whose cells become `_id`.
    public var idColumn: String?
    /// The service's limits, checked here first.
    public var limits = Limits()
    /// Bytes of one record's text in the file, white space included.
    public var recordBytes = 64 * 1_048_576

    /// Points in `location`, no columns named, and the service's default limits.
    public init() {}
}
