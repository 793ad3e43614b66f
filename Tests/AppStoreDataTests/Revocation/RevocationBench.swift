import Foundation
import OfferCrypto
import TestSupport
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

/// A checker with a stub responder, a stub clock, and a record of the certificates found revoked.
final class RevocationBench: Sendable {
    let certificates: OCSPCertificates
    let responder: StubResponder
    let clock = StubClock()
    let checker: OCSPChecker
    private let record = Record()

    private final class Record: @unchecked Sendable {
        // Every access holds the lock.
        private var digests: [[UInt8]] = []
        private let lock = NSLock()

        var all: [[UInt8]] { lock.withLock { digests } }
        func add(_ digest: [UInt8]) { lock.withLock { digests.append(digest) } }
    }

    init(_ answer: ((OCSPCertificates) -> StubResponder.Answer)? = nil) throws {
        let certificates = try OCSPCertificates.shared.get()
        responder = StubResponder(answer?(certificates) ?? StubResponder.answering(certificates))
        checker = OCSPChecker(transport: responder.transport, now: { [clock] in clock.now }) { [record] in
            record.add($0.digest)
        }
        self.certificates = certificates
    }

    /// The digests of the certificates found revoked.
    var revoked: [[UInt8]] { record.all }

    func chain(leaf: String = "leaf") throws -> VerifiedChain {
        try VerifiedChain(
            leaf: certificates.certificate(leaf), intermediate: certificates.certificate("intermediate"),
            roots: TrustedRoots([certificates.certificate("root")]), at: Int64(Date().timeIntervalSince1970))
    }

    /// The times until which the last answers about the leaf and the intermediate may be used.
    func nextUpdates(of chain: VerifiedChain) async throws -> [Int64] {
        let bodies = await responder.bodies
        let questions = try #require(chain.revocationQuestions)
        return try [
            (OCSPCertificates.leafResponder, questions.leaf),
            (OCSPCertificates.intermediateResponder, questions.intermediate),
        ].map { url, question in
            try OCSPResponse(
                verifying: bodies[url] ?? [], about: question.certificate, issuedBy: question.issuer, at: clock.now
            ).goodUntil
        }
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
