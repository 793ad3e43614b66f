import OfferCore
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps the sessions of the console")
struct ConsoleTests {
    private static let start = Sample.day(1)
    private static let ada = ConsoleAccount(name: "Ada", subject: nil, roles: ["support", "auditor"])
    private static let grace = ConsoleAccount(name: "Grace", subject: "https://id.example 7", roles: ["operator"])

    private static func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    private static func minutes(_ minutes: Int) -> Timestamp { start + .seconds(60 * minutes) }

    @Test("a link begins one session within five minutes", arguments: StoreEngine.all)
    func link(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let link = SignInLink(digest: Self.digest(1), account: Self.ada, expiresAt: Self.minutes(5))
            try await store.add(link)
            try await store.add(SignInLink(digest: Self.digest(2), account: Self.ada, expiresAt: Self.minutes(5)))
            let found = try await store.signInLink(Self.digest(1), at: Self.minutes(4))
            #expect(found == link, "reading does not use it up")
            #expect(try await store.signInLink(Self.digest(3), at: Self.minutes(4)) == nil)
            let session = try await store.signIn(with: Self.digest(1), as: Self.digest(11), at: Self.minutes(4))
            #expect(session?.account == Self.ada)
            #expect(
                try await store.signIn(with: Self.digest(1), as: Self.digest(11), at: Self.minutes(4)) == session,
                "the same change is repeated")
            #expect(try await store.signIn(with: Self.digest(1), as: Self.digest(12), at: Self.minutes(4)) == nil)
            #expect(try await store.signInLink(Self.digest(1), at: Self.minutes(4)) == nil)
            #expect(try await store.signInLink(Self.digest(2), at: Self.minutes(5)) == nil)
            #expect(try await store.signIn(with: Self.digest(2), as: Self.digest(12), at: Self.minutes(5)) == nil)
            #expect(try await store.useSession(Self.digest(12), at: Self.minutes(5)) == nil)
        }
    }

    @Test("a session expires after eight hours, and after half an hour without a request", arguments: StoreEngine.all)
    func expiry(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for byte: UInt8 in [1, 2] {
                try await store.begin(
                    ConsoleSession(
                        digest: Self.digest(byte), account: Self.grace, startedAt: Self.start, seenAt: Self.start))
            }
            for minutes in stride(from: 29, through: 479, by: 25) {
                let session = try await store.useSession(Self.digest(1), at: Self.minutes(minutes))
                #expect(session?.state(at: Self.minutes(minutes)) == .valid)
                #expect(session?.account == Self.grace)
            }
            let old = try #require(try await store.useSession(Self.digest(1), at: Self.minutes(480)))
            #expect(old.state(at: Self.minutes(480)) == .expired)
            let idle = try #require(try await store.useSession(Self.digest(2), at: Self.minutes(30)))
            #expect(idle.state(at: Self.minutes(30)) == .expired)
            #expect(
                try await store.useSession(Self.digest(2), at: Self.minutes(31))?.seenAt == Self.start,
                "an expired session does not come back")
        }
    }

    @Test("an ended session stays ended, and an operator ends those of a person", arguments: StoreEngine.all)
    func ended(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for (byte, account) in [(1, Self.ada), (2, Self.ada), (3, Self.grace)] as [(UInt8, ConsoleAccount)] {
                try await store.begin(
                    ConsoleSession(
                        digest: Self.digest(byte), account: account, startedAt: Self.minutes(Int(byte)),
                        seenAt: Self.minutes(Int(byte))))
            }
            try await store.add(SignInLink(digest: Self.digest(9), account: Self.ada, expiresAt: Self.minutes(9)))
            let all = try await store.sessions(at: Self.minutes(4))
            #expect(all.map(\.digest) == [3, 2, 1].map(Self.digest))
            try await store.endSession(Self.digest(1), at: Self.minutes(4))
            let ended = try await store.useSession(Self.digest(1), at: Self.minutes(6))
            #expect(ended?.state(at: Self.minutes(6)) == .ended)
            #expect(try await store.endSessions(of: "Ada", at: Self.minutes(6)) == 1)
            #expect(try await store.sessions(at: Self.minutes(6)).map(\.account) == [Self.grace])
            #expect(try await store.signInLink(Self.digest(9), at: Self.minutes(6)) == nil)
            #expect(try await store.endSessions(of: nil, at: Self.minutes(7)) == 1)
            #expect(try await store.sessions(at: Self.minutes(7)).isEmpty)
            try await store.pruneSessions(before: Self.minutes(3))
            #expect(try await store.useSession(Self.digest(2), at: Self.minutes(7)) == nil)
            #expect(try await store.useSession(Self.digest(3), at: Self.minutes(7)) != nil)
        }
    }
}
