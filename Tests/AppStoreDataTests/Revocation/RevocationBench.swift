import Foundation
import OfferCrypto

@testable import AppStoreData
@testable import AppStoreTestSupport

/// A checker with a stub responder, a stub clock, and a record of the certificates found revoked.
final class RevocationBench: Sendable {
    let authority: TestChain
    let responder: StubResponder
    let clock = StubClock()
    let checker: OCSPChecker
    private let record = Record()

    /// The responders' URLs in the certificates. They lead nowhere.
    static let leafURL = "http://ocsp.intermediate.test/leaf"
    static let intermediateURL = "http://ocsp.root.test/intermediate"

    /// 15 January 2025, 10:20:30 UTC.
    static let revocationDate: Int64 = 1_736_936_430

    private final class Record: @unchecked Sendable {
        // Every access holds the lock.
        private var digests: [[UInt8]] = []
        private let lock = NSLock()

        var all: [[UInt8]] { lock.withLock { digests } }
        func add(_ digest: [UInt8]) { lock.withLock { digests.append(digest) } }
    }

    /// - Parameters:
    ///   - leafExtension: the leaf's authority information access.
    ///   - leafEnd: the last second of the leaf's validity.
    ///   - answer: what the stub responder answers; by default, that both certificates are good.
    init(
        leafExtension: TestCertificate.Extension? = .ocspResponders(leafURL), leafEnd: Int64 = TestTime.end,
        _ answer: ((TestChain) -> StubResponder.Answer)? = nil
    ) throws {
        let authority = try TestChain(
            intermediate: { $0.put(.ocspResponders(Self.intermediateURL)) },
            leaf: { leaf in
                if let leafExtension { leaf.put(leafExtension) }
                leaf.notAfter = leafEnd
            })
        responder = StubResponder(answer?(authority) ?? StubResponder.answering(authority))
        checker = OCSPChecker(transport: responder.transport, now: { [clock] in clock.now }) { [record] in
            record.add($0.digest)
        }
        self.authority = authority
    }

    /// A bench whose responder says that the leaf is revoked.
    static func withRevokedLeaf() throws -> RevocationBench {
        try RevocationBench { StubResponder.answering($0, leaf: .revoked(date: revocationDate)) }
    }

    static let leafRevoked = RevocationFailure.revoked(.leaf, date: revocationDate)

    /// The digests of the certificates found revoked.
    var revoked: [[UInt8]] { record.all }

    func chain() throws -> VerifiedChain {
        try VerifiedChain(
            leaf: X509Certificate(der: authority.leaf), intermediate: X509Certificate(der: authority.intermediate),
            roots: TrustedRoots([X509Certificate(der: authority.root)]), at: TestTime.now)
    }

    /// Runs the checker during `body`, and waits until it has stopped.
    func run(_ body: (_ checker: OCSPChecker, _ chain: VerifiedChain) async throws -> Void) async throws {
        let chain = try chain()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.checker.run() }
            defer { group.cancelAll() }
            try await body(checker, chain)
        }
    }
}
