extension PostgreSQLStore {
    /// Claims work by the server's clock, because the clocks of the processes may differ.
    package func claim(_ work: SharedWork, for duration: Duration) async throws(StoreError) -> Bool {
        let milliseconds = Int64(duration / .milliseconds(1))
        return try await write(.nothing) { [holder] db in
            try db.change(
                """
                INSERT INTO work_lease (name, holder, ends_at)
                VALUES (?1, ?2, clock_timestamp() + CAST(?3 AS bigint) * interval '1 millisecond')
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
                WHERE work_lease.holder = excluded.holder OR work_lease.ends_at <= clock_timestamp()
                """, [work.name, holder, milliseconds]) > 0
        }
    }

    package func release(_ work: SharedWork) async throws(StoreError) {
        try await write(.nothing) { [holder] db in
            try db.send("DELETE FROM work_lease WHERE name = ? AND holder = ?", [work.name, holder])
        }
    }
}
