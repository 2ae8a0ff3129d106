import BackendContract
import InMemoryEngine
import Objects

/// The store as the engine's source of documents.
struct StoredDocuments: DocumentSource {
    let store: SQLiteStore

    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? {
        try read { () throws(StoreFailure) in try store.document(creation: creation) }
    }

    func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        try read { () throws(StoreFailure) in try store.documents(creations: creations) }
    }

    func forEachDocument(
        in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
    ) throws(ServiceFailure) {
        try read { () throws(StoreFailure) in try store.forEachDocument(in: bucket, body) }
    }
}

/// A frozen state of the store as a source of its documents.
struct FrozenDocuments: PresentDocuments {
    let store: FrozenStore

    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? {
        try read { () throws(StoreFailure) in try store.document(creation: creation) }
    }
}

/// What a store answers, or its failure as clients see it.
private func read<Answer>(
    _ body: () throws(StoreFailure) -> Answer
) throws(ServiceFailure) -> Answer {
    do {
        return try body()
    } catch {
        throw ServiceFailure(error)
    }
}
