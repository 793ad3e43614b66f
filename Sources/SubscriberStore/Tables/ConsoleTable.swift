import OfferCore

/// The sessions of the console, and the links that begin one.
enum ConsoleTable {
    static func add(_ link: SignInLink, _ db: any Database) throws {
        try db.send(
            "INSERT INTO sign_in_link (digest, person, roles, expires_at) VALUES (?, ?, ?, ?)",
            [link.digest, link.account.name, link.account.rolesText, link.expiresAt.milliseconds])
    }

    static func link(_ digest: [UInt8], at now: Timestamp, _ db: any Database) throws -> SignInLink? {
        try db.row(
            "SELECT * FROM sign_in_link WHERE digest = ? AND expires_at > ?", [digest, now.milliseconds]
        ).map { row in
            SignInLink(
                digest: try row["digest"],
                account: ConsoleAccount(
                    name: try row["person"], subject: nil, roles: ConsoleAccount.roles(try row["roles"])),
                expiresAt: try row.requiredTime("expires_at"))
        }
    }

    /// Deletes a link, so that it begins no other session.
    /// - Returns: nil if it cannot be used.
    static func take(_ digest: [UInt8], at now: Timestamp, _ db: any Database) throws -> SignInLink? {
        guard let link = try link(digest, at: now, db) else { return nil }
        return try db.change("DELETE FROM sign_in_link WHERE digest = ?", [digest]) == 1 ? link : nil
    }

    static func add(_ session: ConsoleSession, _ db: any Database) throws {
        let account = session.account
        try db.send(
            """
            INSERT INTO console_session (digest, person, subject, roles, started_at, seen_at) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                session.digest, account.name, account.subject, account.rolesText, session.startedAt.milliseconds,
                session.seenAt.milliseconds,
            ])
    }

    static func session(_ digest: [UInt8], _ db: any Database) throws -> ConsoleSession? {
        try db.row("SELECT * FROM console_session WHERE digest = ?", [digest]).map(session)
    }

    /// Notes a request. An ended session stays ended.
    static func touch(_ digest: [UInt8], at now: Timestamp, _ db: any Database) throws {
        try db.send(
            "UPDATE console_session SET seen_at = ?1 WHERE digest = ?2 AND seen_at < ?1", [now.milliseconds, digest])
    }

    static func end(_ digest: [UInt8], at now: Timestamp, _ db: any Database) throws {
        try db.send(
            "UPDATE console_session SET ended_at = ? WHERE digest = ? AND ended_at IS NULL",
            [now.milliseconds, digest])
    }

    /// - Parameter name: nil for all persons.
    static func endAll(of name: String?, at now: Timestamp, _ db: any Database) throws -> Int {
        let ended = try sessions(at: now, db).filter { name == nil || $0.account.name == name }
        for session in ended { try end(session.digest, at: now, db) }
        if let name {
            try db.send("DELETE FROM sign_in_link WHERE person = ?", [name])
        } else {
            try db.send("DELETE FROM sign_in_link", [])
        }
        return ended.count
    }

    /// Returns the valid sessions, the latest first.
    static func sessions(at now: Timestamp, _ db: any Database) throws -> [ConsoleSession] {
        try db.rows(
            """
            SELECT * FROM console_session
            WHERE ended_at IS NULL AND started_at > ? AND seen_at > ? ORDER BY started_at DESC, digest
            """,
            [
                (now - ConsoleSession.maximumAge).milliseconds, (now - ConsoleSession.maximumIdleTime).milliseconds,
            ]
        ).map(session)
    }

    static func prune(before time: Timestamp, _ db: any Database) throws {
        try db.send("DELETE FROM console_session WHERE started_at < ?", [time.milliseconds])
        try db.send("DELETE FROM sign_in_link WHERE expires_at < ?", [time.milliseconds])
    }

    private static func session(_ row: Row) throws -> ConsoleSession {
        ConsoleSession(
            digest: try row["digest"],
            account: ConsoleAccount(
                name: try row["person"], subject: try row["subject"], roles: ConsoleAccount.roles(try row["roles"])),
            startedAt: try row.requiredTime("started_at"), seenAt: try row.requiredTime("seen_at"),
            endedAt: try row.time("ended_at"))
    }
}

extension ConsoleAccount {
    fileprivate var rolesText: String { roles.joined(separator: " ") }

    fileprivate static func roles(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
