package import OfferCore

/// A person who is or was signed in to the console.
package struct ConsoleAccount: Hashable, Sendable {
    /// The name that the console shows, up to 128 bytes.
    package let name: String
    /// The identifier at the identity provider, up to 255 bytes; nil for a person who signed in with a link.
    package let subject: String?
    /// The names of the person's roles, sorted.
    package let roles: [String]

    package init(name: String, subject: String?, roles: [String]) {
        self.name = name
        self.subject = subject
        self.roles = roles.sorted()
    }
}

/// A session of the console.
package struct ConsoleSession: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case valid
        /// The session reached its age, or had no request for too long.
        case expired
        /// The person or an operator ended it.
        case ended
    }

    /// The SHA-256 hash of the token in the cookie. The token is not stored.
    package let digest: [UInt8]
    package let account: ConsoleAccount
    package let startedAt: Timestamp
    /// The time of the last request, at most a minute too early.
    package let seenAt: Timestamp
    package let endedAt: Timestamp?

    /// The maximum age of a session.
    package static let maximumAge = Duration.seconds(8 * 3600)
    /// The time without a request after which a session expires.
    package static let maximumIdleTime = Duration.seconds(1800)
    /// The precision of ``seenAt``.
    static let precision = Duration.seconds(60)

    package init(
        digest: [UInt8], account: ConsoleAccount, startedAt: Timestamp, seenAt: Timestamp, endedAt: Timestamp? = nil
    ) {
        self.digest = digest
        self.account = account
        self.startedAt = startedAt
        self.seenAt = seenAt
        self.endedAt = endedAt
    }

    package func state(at now: Timestamp) -> State {
        if endedAt != nil { return .ended }
        return now < startedAt + Self.maximumAge && now < seenAt + Self.maximumIdleTime ? .valid : .expired
    }
}

/// A link with which a person signs in to the console once.
package struct SignInLink: Hashable, Sendable {
    /// The SHA-256 hash of the token in the link. The token is not stored.
    package let digest: [UInt8]
    package let account: ConsoleAccount
    package let expiresAt: Timestamp

    /// The time for which a link is valid.
    package static let time = Duration.seconds(300)

    package init(digest: [UInt8], account: ConsoleAccount, expiresAt: Timestamp) {
        self.digest = digest
        self.account = account
        self.expiresAt = expiresAt
    }
}

/// The storage of the console's sessions and sign-in links, which are not exported, and its statistics.
package protocol ConsoleStore: Sendable {
    /// Adds a link. Its digest is new.
    func add(_ link: SignInLink) async throws(StoreError)

    /// Returns a link that can still be used.
    func signInLink(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> SignInLink?

    /// Uses up a link, and begins a session of its person.
    /// - Parameter session: the digest of the new session's token.
    /// - Returns: nil if the link was used before, has expired, or never existed.
    func signIn(
        with link: [UInt8], as session: [UInt8], at now: Timestamp
    ) async throws(StoreError) -> ConsoleSession?

    func begin(_ session: ConsoleSession) async throws(StoreError)

    /// Returns a session, valid or not, and notes the request if the session is valid.
    func useSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError) -> ConsoleSession?

    func endSession(_ digest: [UInt8], at now: Timestamp) async throws(StoreError)

    /// Ends all valid sessions of a person, and revokes the unused links.
    /// - Parameter name: the name that the console shows; nil for all persons.
    /// - Returns: the number of sessions that ended.
    func endSessions(of name: String?, at now: Timestamp) async throws(StoreError) -> Int

    /// Returns the valid sessions, the latest first.
    func sessions(at now: Timestamp) async throws(StoreError) -> [ConsoleSession]

    /// Returns what happened to the offers since a time. The totals count everything.
    func offerActivity(since time: Timestamp) async throws(StoreError) -> [OfferActivity]

    /// Deletes sessions that began before a time, and links that expired before it.
    func pruneSessions(before time: Timestamp) async throws(StoreError)
}
