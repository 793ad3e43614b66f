import Foundation
import OfferCrypto
import TestSupport
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("OCSP over HTTP on loopback", .serialized)
struct RealResponderTests {
    let certificates: OCSPCertificates

    // Making the certificates and starting responders waits for processes.
    init() async throws { certificates = try await onOwnThread { try OCSPCertificates.shared.get() } }

    /// A transport that sends the requests to ports of this machine.
    /// - Parameter seconds: how long a responder may stay silent.
    private func transport(leafPort: Int, intermediatePort: Int, timeout seconds: Int = 600) -> OCSPTransport {
        { url, request in
            let port = url == OCSPCertificates.leafResponder ? leafPort : intermediatePort
            return try await onOwnThread { try LoopbackSocket.post(request, toPort: port, timeout: seconds) }
        }
    }

    private func responder(authority: String, index: String) async throws -> OCSPResponder {
        try await onOwnThread { [certificates] in
            try OCSPResponder(certificates, authority: authority, index: index)
        }
    }

    private func check(by transport: @escaping OCSPTransport) async throws {
        let now = { @Sendable in Int64(Date().timeIntervalSince1970) }
        let chain = try VerifiedChain(
            leaf: certificates.certificate("leaf"), intermediate: certificates.certificate("intermediate"),
            roots: TrustedRoots([certificates.certificate("root")]), at: now())
        let checker = OCSPChecker(transport: transport, now: now) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await checker.run() }
            defer { group.cancelAll() }
            try await checker.check(chain)
        }
    }

    private func check(leafIndex: String, intermediateIndex: String) async throws {
        let leaf = try await responder(authority: "intermediate", index: leafIndex)
        let intermediate = try await responder(authority: "root", index: intermediateIndex)
        try await check(by: transport(leafPort: leaf.port, intermediatePort: intermediate.port))
        // A responder stops when its last reference is released.
        withExtendedLifetime((leaf, intermediate)) {}
    }

    @Test("two responders of openssl vouch for a chain")
    func good() async throws {
        try await check(leafIndex: certificates.index(good: [2]), intermediateIndex: certificates.index(good: [1]))
    }

    @Test("a responder of openssl revokes a certificate")
    func revoked() async throws {
        let date = OCSPCertificates.revocationSeconds
        let (good, revoked) = (certificates.index(good: [1, 2]), certificates.index(revoked: [1, 2]))
        await #expect(throws: RevocationFailure.revoked(.leaf, date: date)) {
            try await check(leafIndex: revoked, intermediateIndex: good)
        }
        await #expect(throws: RevocationFailure.revoked(.intermediate, date: date)) {
            try await check(leafIndex: good, intermediateIndex: revoked)
        }
    }

    @Test("a responder of openssl does not know a certificate")
    func unknown() async throws {
        await #expect(throws: RevocationFailure.unknown(.intermediate, .unknownCertificate)) {
            try await check(leafIndex: certificates.index(good: [2]), intermediateIndex: "")
        }
    }

    @Test("a responder of another authority does not count")
    func wrongSigner() async throws {
        let impostor = try await responder(authority: "impostor", index: certificates.index(good: [2]))
        let root = try await responder(authority: "root", index: certificates.index(good: [1]))
        // It answers about certificates of its own, and it does not know this one by the issuer's key.
        await #expect(throws: RevocationFailure.unknown(.leaf, .response(.delegate(.notIssuedByIssuer)))) {
            try await check(by: transport(leafPort: impostor.port, intermediatePort: root.port))
        }
        withExtendedLifetime((impostor, root)) {}
    }

    @Test("a responder that cannot be reached, or accepts and stays silent, is no answer")
    func unreachable() async throws {
        let (silent, closed) = (try LoopbackSocket(), try LoopbackSocket())
        let silentPort = try silent.bindSilently(isListening: true)
        let closedPort = try closed.bindSilently(isListening: false)
        for (port, seconds, reason) in [(closedPort, 600, "connection refused"), (silentPort, 1, "timeout")] {
            await #expect(throws: RevocationFailure.unknown(.leaf, .transport(OCSPTransportFailure(reason)))) {
                try await check(by: transport(leafPort: port, intermediatePort: port, timeout: seconds))
            }
        }
        withExtendedLifetime((silent, closed)) {}
    }
}
