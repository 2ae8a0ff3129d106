import JSONText

/// Whose buckets a path leads to.
enum KiiScope: Equatable {
    case application
    case user(String)
    case group(String)
    case thing(String)

    /// The scope's part of a path, and of a bucket's name on the line port: `users/alice/`.
    var prefix: String {
        switch self {
        case .application: ""
        case .user(let id): "users/\(id)/"
        case .group(let id): "groups/\(id)/"
        case .thing(let id): "things/\(id)/"
        }
    }
}

/// What a request is about.
struct KiiPlace {
    let app: String
    let scope: KiiScope
    let bucket: String
    var object: String?

    /// The bucket's name on the line port.
    var bucketName: String { scope.prefix + bucket }

    /// The path of the object with an id.
    func path(of id: String) -> String {
        "/api/apps/\(app)/\(scope.prefix)buckets/\(bucket)/objects/\(id)"
    }

    /// Appends `objectScope`, `bucketID` and `objectID`.
    func writeNames(withObject: Bool, to writer: inout JSONWriter) {
        writer.raw(",\"objectScope\":{\"appID\":")
        writer.string(app)
        switch scope {
        case .application: writer.raw(",\"type\":\"APP\"}")
        case .user(let id):
            writer.raw(",\"userID\":")
            writer.string(id)
            writer.raw(",\"type\":\"APP_AND_USER\"}")
        case .group(let id):
            writer.raw(",\"groupID\":")
            writer.string(id)
            writer.raw(",\"type\":\"APP_AND_GROUP\"}")
        case .thing(let id):
            writer.raw(",\"thingID\":")
            writer.string(id)
            writer.raw(",\"type\":\"APP_AND_THING\"}")
        }
        writer.key("bucketID")
        writer.string(bucket)
        if withObject, let object {
            writer.key("objectID")
            writer.string(object)
        }
    }
}
