import Crypto
import Foundation
import NIOConcurrencyHelpers
package import OfferCrypto

/// Continuous offer requests over eight connections. Each signature is verified with the key it names, by libcrypto and by
/// swift-crypto.
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

    private let app: String

    package init(app: String = "a") { self.app = app }

    /// Registers the public key for a key ID.
    package func expect(_ key: VerifyingKey, as keyID: String) {
        state.withLockedValue { $0.publicKeys[keyID] = key }
    }

    /// Descriptions of all invalid responses and lost connections.
    package var failures: [String] { state.withLockedValue { $0.failures } }

    /// The number of valid responses, by key ID.
    package var answers: [String: Int] { state.withLockedValue { $0.answers } }

    /// The nonces of all valid responses.
    package var nonces: Set<String> { state.withLockedValue { $0.nonces } }

    /// Runs the load while `body` runs.
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

    /// Waits up to 30 seconds until the latest response is signed by `keyID`.
    /// - Returns: false on timeout.
    package func waitForAnswer(by keyID: String) async throws -> Bool {
        for _ in 0..<3000 {
            if state.withLockedValue({ $0.lastKeyID == keyID }) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    private func load(port: Int, user: String) async throws {
        let body = #"{"appBundleID":"\#(app)","productIdentifier":"p","offerID":"o","applicationUsername":"\#(user)"}"#
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

    private func fault(of answer: ReceivedResponse, user: String) -> String? {
        guard answer.status == 200,
            let json = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
            let keyID = json["keyID"] as? String, let nonce = json["nonce"] as? String,
            let timestamp = json["timestamp"] as? Int64,
            let signature = (json["signature"] as? String).flatMap({ Data(base64Encoded: $0) })
        else { return "status \(answer.status): \(String(decoding: answer.body, as: UTF8.self))" }
        guard let key = state.withLockedValue({ $0.publicKeys[keyID] }) else { return "unexpected key \(keyID)" }
        let payload = [app, keyID, "p", "o", user, nonce, "\(timestamp)"].joined(separator: "\u{2063}")
        guard (try? key.verify([UInt8](signature), of: Array(payload.utf8))) == true else {
            return "the signature does not verify with key \(keyID)"
        }
        guard let other = try? P256.Signing.PublicKey(derRepresentation: key.der),
            let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            other.isValidSignature(parsed, for: Data(payload.utf8))
        else { return "swift-crypto does not accept the signature with key \(keyID)" }
        state.withLockedValue { state in
            state.answers[keyID, default: 0] += 1
            state.nonces.insert(nonce)
            state.lastKeyID = keyID
        }
        return nil
    }
}
