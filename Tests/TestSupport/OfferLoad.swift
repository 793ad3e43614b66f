import Foundation
import NIOConcurrencyHelpers
package import OfferCrypto

/// A continuous load of offers over eight connections, each answer verified with the public half of the key that it names.
package final class OfferLoad: Sendable {
    private struct State {
        var publicKeys: [String: VerifyingKey] = [:]
        var answers: [String: Int] = [:]
        var nonces: Set<String> = []
        var lastKeyID = ""
        var failures: [String] = []
        var isOver = false
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Tells which key an ID stands for.
    package func expect(_ key: VerifyingKey, as keyID: String) {
        state.withLockedValue { $0.publicKeys[keyID] = key }
    }

    /// What was wrong with any answer.
    package var failures: [String] { state.withLockedValue { $0.failures } }

    /// The number of answers that verified, by key ID.
    package var answers: [String: Int] { state.withLockedValue { $0.answers } }

    /// Those of all answers that verified.
    package var nonces: Set<String> { state.withLockedValue { $0.nonces } }

    /// Runs the load as long as `body` does.
    package func run(port: Int, during body: @escaping @Sendable () async throws -> Void) async throws {
        state.withLockedValue { $0.isOver = false }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 { group.addTask { try await self.load(port: port, user: "user\(number)") } }
            group.addTask {
                defer { self.state.withLockedValue { $0.isOver = true } }
                try await body()
            }
            try await group.waitForAll()
        }
    }

    /// Returns when an answer has come that `keyID` signed, or when half a minute has passed without one.
    /// - Returns: whether it has come.
    package func waitForAnswer(by keyID: String) async throws -> Bool {
        for _ in 0..<3000 {
            if state.withLockedValue({ $0.lastKeyID == keyID }) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private func load(port: Int, user: String) async throws {
        let body = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"\#(user)"}"#
        try await Connection.open(port: port) { connection in
            while !state.withLockedValue({ $0.isOver }) {
                guard let answer = try? await connection.post("/offer", json: body) else {
                    state.withLockedValue { $0.failures.append("a connection ended") }
                    return
                }
                let fault = fault(of: answer, user: user)
                if let fault { state.withLockedValue { $0.failures.append(fault) } }
            }
        }
    }

    private func fault(of answer: ReceivedAnswer, user: String) -> String? {
        guard answer.status == 200,
            let json = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
            let keyID = json["keyID"] as? String, let nonce = json["nonce"] as? String,
            let timestamp = json["timestamp"] as? Int64,
            let signature = (json["signature"] as? String).flatMap({ Data(base64Encoded: $0) })
        else { return "status \(answer.status): \(String(decoding: answer.body, as: UTF8.self))" }
        guard let key = state.withLockedValue({ $0.publicKeys[keyID] }) else { return "nobody expects key \(keyID)" }
        let payload = ["a", keyID, "p", "o", user, nonce, "\(timestamp)"].joined(separator: "\u{2063}")
        guard (try? key.verify([UInt8](signature), of: Array(payload.utf8))) == true else {
            return "not signed by key \(keyID), which it names"
        }
        state.withLockedValue { state in
            state.answers[keyID, default: 0] += 1
            state.nonces.insert(nonce)
            state.lastKeyID = keyID
        }
        return nil
    }
}
