import Objects

extension ServiceFailure {
    public static func noObject(_ id: ObjectID, in bucket: BucketName) -> ServiceFailure {
        ServiceFailure(
            .objectNotFound, "there is no object \"\(id.text)\" in the bucket \"\(bucket.text)\"")
    }

    public static func noBucket(_ bucket: BucketName) -> ServiceFailure {
        ServiceFailure(.bucketNotFound, "there is no bucket \"\(bucket.text)\"", at: "bucket")
    }
}
