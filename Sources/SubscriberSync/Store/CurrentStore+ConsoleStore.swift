package import OfferCore
package import SubscriberStore

extension CurrentStore: ConsoleStore {
    package func add(_ link: SignInLink) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.add(link) }
    }

    package func signInLink(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> SignInLink? {
        try await read { store throws(StoreError) in try await store.signInLink(digest, at: now) }
    }

    package func signIn(
        with link: [UInt8], as session: [UInt8], at now: Timestamp
    ) async throws(StoreError) -> ConsoleSession? {
        try await write { store throws(StoreError) in try await store.signIn(with: link, as: session, at: now) }
    }

    package func begin(_ session: ConsoleSession) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.begin(session) }
    }

    package func useSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> ConsoleSession? {
        try await read { store throws(StoreError) in try await store.useSession(digest, at: now) }
    }

    package func endSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.endSession(digest, at: now) }
    }

    package func endSessions(of name: String?, at now: Timestamp) async throws(StoreError) -> Int {
        try await write { store throws(StoreError) in try await store.endSessions(of: name, at: now) }
    }

    package func sessions(at now: Timestamp) async throws(StoreError) -> [ConsoleSession] {
        try await read { store throws(StoreError) in try await store.sessions(at: now) }
    }

    package func offerActivity(since time: Timestamp) async throws(StoreError) -> [OfferActivity] {
        try await read { store throws(StoreError) in try await store.offerActivity(since: time) }
    }

    package func pruneSessions(before time: Timestamp) async throws(StoreError) {
        try await write { store throws(StoreError) in try await store.pruneSessions(before: time) }
    }
}
