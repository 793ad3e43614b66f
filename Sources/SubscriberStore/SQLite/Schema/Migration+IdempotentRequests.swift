extension Migration {
    /// The requests with an `Idempotency-Key`. They are kept for ten minutes, and not exported.
    static let idempotentRequests = Migration(
        name: "idempotent requests",
        sql: """
            CREATE TABLE idempotent_request (
                -- A digest of the caller and the key.
                id BLOB PRIMARY KEY,
                -- A digest of the method, the target and the body.
                digest BLOB NOT NULL,
                -- The claim of the process that makes the answer, and the time at which another may take over.
                owner TEXT NOT NULL,
                claimed_until INTEGER NOT NULL,
                at INTEGER NOT NULL,
                -- A line for each signature that may be reserved: the app and the nonce.
                reserved TEXT NOT NULL,
                -- The answer; NULL until it is made.
                status INTEGER,
                body BLOB
            ) STRICT;
            CREATE INDEX idempotent_request_age ON idempotent_request (at);
            """)
}
