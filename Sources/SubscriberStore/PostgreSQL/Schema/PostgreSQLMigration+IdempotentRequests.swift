extension Migration {
    /// The same changes as ``Migration/idempotentRequests``, which explains the columns.
    static let idempotentRequestsInPostgreSQL = Migration(
        name: "idempotent requests",
        sql: """
            CREATE TABLE idempotent_request (
                id BYTEA PRIMARY KEY,
                digest BYTEA NOT NULL,
                owner TEXT NOT NULL,
                claimed_until BIGINT NOT NULL,
                at BIGINT NOT NULL,
                reserved TEXT NOT NULL,
                status BIGINT,
                body BYTEA
            );
            CREATE INDEX idempotent_request_age ON idempotent_request (at)
            """)
}
