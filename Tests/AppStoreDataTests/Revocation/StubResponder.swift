import AppStoreData
import Foundation
import TestSupport

@testable import AppStoreTestSupport

/// A transport that records what it is asked, and a clock that a test sets.
actor StubResponder {
    typealias Answer = @Sendable (_ url: String, _ request: [UInt8]) async throws -> OCSPReply

    /// The URLs asked, oldest first.
    private(set) var urls: [String] = []
    /// The last body sent from each URL.
    private(set) var bodies: [String: [UInt8]] = [:]
    private var answer: Answer
    private var isOpen = true
    private var blocked: [CheckedContinuation<Void, Never>] = []

    init(_ answer: @escaping Answer) { self.answer = answer }

    nonisolated var transport: OCSPTransport { { try await self.send($1, to: $0) } }

    func answer(by answer: @escaping Answer) { self.answer = answer }

    /// Holds back all answers until ``open()``.
    func close() { isOpen = false }

    func open() {
        isOpen = true
        for continuation in blocked { continuation.resume() }
        blocked = []
    }

    private func send(_ request: [UInt8], to url: String) async throws -> OCSPReply {
        urls.append(url)
        if !isOpen { await withCheckedContinuation { blocked.append($0) } }
        let reply = try await answer(url, request)
        bodies[url] = reply.body
        return reply
    }
}

extension StubResponder {
    /// A responder that answers by `openssl ocsp`, as the issuers' responders would.
    /// - Parameters:
    ///   - leaf: the index of the leaf's responder. The leaf has serial number 2.
    ///   - intermediate: the index of the intermediate's responder. The intermediate has serial number 1.
    static func answering(
        _ certificates: OCSPCertificates, leaf: String? = nil, intermediate: String? = nil,
        validity: [String] = ["-nmin", "60"]
    ) -> Answer {
        let leaf = leaf ?? certificates.index(good: [2])
        let intermediate = intermediate ?? certificates.index(good: [1])
        return { url, request in
            let isLeaf = url == OCSPCertificates.leafResponder
            let issuer = isLeaf ? "intermediate" : "root"
            return OCSPReply(
                status: 200,
                body: try certificates.response(
                    to: request, index: isLeaf ? leaf : intermediate, authority: issuer, signer: issuer,
                    validity: validity))
        }
    }

    /// A responder that gives the same reply to all questions.
    static func replying(_ status: Int, _ body: [UInt8]) -> Answer { { _, _ in OCSPReply(status: status, body: body) } }
}

/// The time in seconds since 1970, as set by a test.
final class StubClock: @unchecked Sendable {
    // Every access holds the lock.
    private var seconds = Int64(Date().timeIntervalSince1970)
    private let lock = NSLock()

    var now: Int64 { lock.withLock { seconds } }

    func set(_ time: Int64) { lock.withLock { seconds = time } }

    func advance(by difference: Int64) { lock.withLock { seconds += difference } }
}
