import Backend
import InMemoryEngine
import ObjectStore
import Objects

/// The store as the engine's source of documents.
struct StoredDocuments: DocumentSource {
    let store: ObjectStore

    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? {
        do {
            return try store.document(creation: creation)
        } catch {
            throw ServiceFailure(error)
        }
    }

    func documents(
        creations: [ChangeNumber]
    ) throws(ServiceFailure) -> [(change: ChangeNumber, text: [UInt8])?] {
        do {
            return try store.documents(creations: creations)
        } catch {
            throw ServiceFailure(error)
        }
    }

    func forEachDocument(
        in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
    ) throws(ServiceFailure) {
        do {
            try store.forEachDocument(in: bucket, body)
        } catch {
            throw ServiceFailure(error)
        }
    }
}

/// A frozen state of the store as a source of its documents.
struct FrozenDocuments: PresentDocuments {
    let store: FrozenStore

    func document(
        creation: ChangeNumber
    ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? {
        do {
            return try store.document(creation: creation)
        } catch {
            throw ServiceFailure(error)
        }
    }
}
