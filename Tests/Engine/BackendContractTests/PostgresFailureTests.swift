import EmbeddedBackend
import Objects
import Testing

@testable import PostgresBackend

/// What an error of PostgreSQL means for a node and for its clients.
@Suite struct PostgresFailureTests {
    @Test(arguments: [
        // The same may succeed later, on this server or on the next one.
        ("08006", ServiceFailure.Reason.temporarilyUnavailable),  // connection_failure
        ("53300", .temporarilyUnavailable),  // too_many_connections
        ("57P01", .temporarilyUnavailable),  // admin_shutdown
        ("57P03", .temporarilyUnavailable),  // cannot_connect_now
        ("57014", .temporarilyUnavailable),  // query_canceled
        ("25006", .temporarilyUnavailable),  // read_only_sql_transaction: a standby
        ("25P03", .temporarilyUnavailable),  // idle_in_transaction_session_timeout
        ("40001", .temporarilyUnavailable),  // serialization_failure
        ("40P01", .temporarilyUnavailable),  // deadlock_detected
        ("55P03", .temporarilyUnavailable),  // lock_not_available
        ("", .temporarilyUnavailable),  // libpq's own: no connection
        ("53100", .storeFull),  // disk_full
        ("22021", .invalidInputData),  // character_not_in_repertoire
        ("22P05", .invalidInputData),  // untranslatable_character
        ("42501", .undefined),  // insufficient_privilege
        ("26000", .undefined),  // invalid_sql_statement_name: a pooler shares sessions
        ("42P05", .undefined),  // duplicate_prepared_statement: the same
        ("42P01", .undefined),  // undefined_table
        ("23505", .undefined),  // unique_violation
        ("XX001", .undefined),  // data_corrupted
    ])
    func `a SQLSTATE becomes the error code that says what a client can do`(
        state: String, reason: ServiceFailure.Reason
    ) {
        let failure = PostgresFailure(state: state, message: "what the server says")
        let shown = ServiceFailure(StoreFailure(failure))
        #expect(shown.reason == reason, "\(state)")
        #expect(!shown.message.isEmpty)
    }

    @Test func `only what may succeed later is tried again`() {
        let lasting = ["53100", "22021", "42501", "26000", "42P05", "42P01"].map {
            PostgresFailure(state: $0, message: "")
        }
        for failure in lasting {
            if case .unavailable = failure { Issue.record("\(failure)") }
        }
        // The role's owner has to do something, and is told what is missing.
        let right = PostgresFailure(state: "42501", message: "permission denied for table head")
        #expect(right.description.contains("permission denied for table head"))
        #expect(right.description.contains("role"))
        let pooler = PostgresFailure(state: "26000", message: "")
        #expect(pooler.description.contains("pool_mode = session"))
    }
}
