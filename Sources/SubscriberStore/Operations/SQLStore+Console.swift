package import OfferCore

extension SQLStore {
    package func add(_ link: SignInLink) async throws(StoreError) {
        try await write(.nothing) { db in try ConsoleTable.add(link, db) }
    }

    package func signInLink(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> SignInLink? {
        try await read { db in try ConsoleTable.link(digest, at: now, db) }
    }

    package func signIn(
        with link: [UInt8], as session: [UInt8], at now: Timestamp
    ) async throws(StoreError) -> ConsoleSession? {
        try await write(.names([.signIn(link)])) { db in
            // The change may be repeated, because its first outcome was unknown.
            if let begun = try ConsoleTable.session(session, db) { return begun }
            guard let link = try ConsoleTable.take(link, at: now, db) else { return nil }
            let begun = ConsoleSession(digest: session, account: link.account, startedAt: now, seenAt: now)
            try ConsoleTable.add(begun, db)
            return begun
        }
    }

    package func begin(_ session: ConsoleSession) async throws(StoreError) {
        try await write(.nothing) { db in
            guard try ConsoleTable.session(session.digest, db) == nil else { return }
            try ConsoleTable.add(session, db)
        }
    }

    package func useSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> ConsoleSession? {
        let found = try await read { db in try ConsoleTable.session(digest, db) }
        guard let found, found.state(at: now) == .valid, found.seenAt + ConsoleSession.precision <= now else {
            return found
        }
        try await write(.nothing) { db in try ConsoleTable.touch(digest, at: now, db) }
        return found
    }

    package func endSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) {
        try await write(.nothing) { db in try ConsoleTable.end(digest, at: now, db) }
    }

    package func endSessions(of name: String?, at now: Timestamp) async throws(StoreError) -> Int {
        try await write(.nothing) { db in try ConsoleTable.endAll(of: name, at: now, db) }
    }

    package func sessions(at now: Timestamp) async throws(StoreError) -> [ConsoleSession] {
        try await read { db in try ConsoleTable.sessions(at: now, db) }
    }

    package func offerActivity(since time: Timestamp) async throws(StoreError) -> [OfferActivity] {
        try await read { db in try OfferActivityTable.activity(since: time, db) }
    }

    package func pruneSessions(before time: Timestamp) async throws(StoreError) {
        try await write(.nothing) { db in try ConsoleTable.prune(before: time, db) }
    }
}
