import Objects

extension ServiceFailure {
    /// `OBJECT_NOT_FOUND`, with the id and the bucket in its message.
    public static func noObject(_ id: ObjectID, in bucket: BucketName) -> ServiceFailure {
        ServiceFailure(
            .objectNotFound, "there is no object \"\(id.text)\" in the bucket \"\(bucket.text)\"")
    }

    /// `BUCKET_NOT_FOUND`, at the param `bucket`.
    public static func noBucket(_ bucket: BucketName) -> ServiceFailure {
        ServiceFailure(.bucketNotFound, "there is no bucket \"\(bucket.text)\"", at: "bucket")
    }
}
