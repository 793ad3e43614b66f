import AppStoreData
import Foundation
import TestSupport

@testable import AppStoreTestSupport

/// A transport that records what it is asked, and a clock that a test sets.
actor StubResponder {
    typealias Answer = @Sendable (_ url: String, _ request: [UInt8]) async throws -> OCSPReply

    /// The URLs asked, oldest first.
    private(set) var urls: [String] = []
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
        return try await answer(url, request)
    }
}

extension StubResponder {
    /// A responder that answers as the issuers' responders would, with answers of ``TestTime/now``.
    /// - Parameter validity: the time until the next update, in seconds; nil for no next update.
    static func answering(
        _ authority: TestChain, leaf: TestResponder.Status = .good, intermediate: TestResponder.Status = .good,
        validity: Int64? = 3600
    ) -> Answer {
        { url, request in
            let isLeaf = url == RevocationBench.leafURL
            let responder = isLeaf ? authority.leafResponder : authority.intermediateResponder
            return OCSPReply(
                status: 200,
                body: try responder.response(
                    to: request, isLeaf ? leaf : intermediate, from: TestTime.now,
                    until: validity.map { TestTime.now + $0 }))
        }
    }

    /// A responder that gives the same reply to all questions.
    static func replying(_ status: Int, _ body: [UInt8]) -> Answer { { _, _ in OCSPReply(status: status, body: body) } }
}

/// The time in seconds since 1970, as set by a test. It begins with ``TestTime/now``.
final class StubClock: @unchecked Sendable {
    // Every access holds the lock.
    private var seconds = TestTime.now
    private let lock = NSLock()

    var now: Int64 { lock.withLock { seconds } }

    func advance(by difference: Int64) { lock.withLock { seconds += difference } }
}
