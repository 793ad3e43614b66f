import NIOConcurrencyHelpers
package import OfferCore

/// The current token of each app. A token is used for four minutes, or until the app's key or issuer changes.
package final class TokenSource: Sendable {
    private struct Issued {
        let token: UnsignedAPIToken
        let text: String
    }

    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let record: @Sendable (UnsignedAPIToken) async -> Bool
    private let issued = NIOLockedValueBox<[BundleID: Issued]>([:])

    /// The time for which a token is used, in seconds. A request with it must arrive before it expires.
    private static let useSeconds: Int64 = 240
    /// A clock that runs ahead by as much as this still issues tokens from the past. The App Store refuses others.
    private static let clockAllowanceSeconds: Int64 = 20

    /// - Parameters:
    ///   - policy: the keys and issuer IDs in force.
    ///   - record: records a new token before its first use. If it returns false, the token is not used.
    package init(
        policy: @escaping @Sendable () -> Policy, now: @escaping @Sendable () -> Timestamp,
        record: @escaping @Sendable (UnsignedAPIToken) async -> Bool = { _ in true }
    ) {
        self.policy = policy
        self.now = now
        self.record = record
    }

    /// Returns the token for requests about an app.
    func token(for app: BundleID) async throws(TokenFault) -> String {
        let policy = policy()
        guard let issuerID = policy.issuerIDs[app] else { throw .noIssuerID }
        let key: KeyRing.Key
        do { key = try policy.ring.signingKey(for: app) } catch { throw .noKey(error) }
        let seconds = now().milliseconds / 1000 - Self.clockAllowanceSeconds
        if let known = issued.withLockedValue({ $0[app] }), known.token.keyID == key.id,
            known.token.issuerID == issuerID, (0..<Self.useSeconds).contains(seconds - known.token.issuedAtSeconds)
        {
            return known.text
        }
        let token = UnsignedAPIToken(keyID: key.id, issuerID: issuerID, bundleID: app, issuedAtSeconds: seconds)
        let text: String
        do { text = try key.pair.apiToken(for: token) } catch { throw .signing(error) }
        guard await record(token) else { throw .notRecorded }
        issued.withLockedValue { $0[app] = Issued(token: token, text: text) }
        return text
    }

    /// Forgets a token that the App Store has refused.
    /// - Parameter text: kept if it has been replaced meanwhile.
    func discard(_ text: String, of app: BundleID) {
        issued.withLockedValue { if $0[app]?.text == text { $0[app] = nil } }
    }
}

/// The reason there is no token for an app.
package enum TokenFault: Error {
    case noIssuerID
    case noKey(KeyRingError)
    case signing(SigningFault)
    /// The audit trail cannot be written.
    case notRecorded
}

extension TokenFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noIssuerID: "no issuer ID is configured for the app"
        case .noKey: "no key signs for the app"
        case .signing: "the token could not be signed"
        case .notRecorded: "the token could not be recorded in the audit trail"
        }
    }
}
