import NIOConcurrencyHelpers
package import OfferCore
import OfferEligibility

/// A source of API tokens for each app. A token is used for four minutes, or until the app's key or issuer changes.
///
/// Requests that need a new token at the same moment share one, so it is signed and recorded only once.
package final class TokenSource: Sendable {
    private struct Issued {
        let token: UnsignedAPIToken
        let text: String
    }

    /// The values that a token depends on, apart from the time.
    private struct Terms: Hashable {
        let app: BundleID
        let keyID: KeyID
        let issuerID: IssuerID
    }

    private typealias Waiter = CheckedContinuation<Result<String, TokenFault>?, Never>

    private enum Step { case use(String), make, wait }

    private struct State {
        var issued: [BundleID: Issued] = [:]
        /// The requests that wait for a token that is being created.
        var waiting: [Terms: [Waiter]] = [:]

        func known(_ terms: Terms, at seconds: Int64) -> String? {
            guard let known = issued[terms.app], known.token.keyID == terms.keyID,
                known.token.issuerID == terms.issuerID,
                (0..<TokenSource.useSeconds).contains(seconds - known.token.issuedAtSeconds)
            else { return nil }
            return known.text
        }
    }

    private let credentials: @Sendable () -> TokenCredentials
    private let now: @Sendable () -> Timestamp
    private let record: @Sendable (UnsignedAPIToken) async -> Bool
    private let state = NIOLockedValueBox(State())

    /// The time for which a token is used, in seconds. It ends early so that a request arrives before its token
    /// expires.
    private static let useSeconds: Int64 = 240
    /// The number of seconds subtracted from the issue time. Even a clock that is this far ahead then issues no tokens
    /// from the future, which the App Store refuses.
    private static let clockAllowanceSeconds: Int64 = 20

    /// - Parameters:
    ///   - credentials: the credentials in force.
    ///   - record: records a new token before its first use. If it returns false, the token is not used.
    package init(
        credentials: @escaping @Sendable () -> TokenCredentials, now: @escaping @Sendable () -> Timestamp,
        record: @escaping @Sendable (UnsignedAPIToken) async -> Bool = { _ in true }
    ) {
        self.credentials = credentials
        self.now = now
        self.record = record
    }

    /// Returns the token for requests about an app.
    func token(for app: BundleID) async throws(TokenFault) -> String {
        let credentials = credentials()
        guard let issuerID = credentials.issuerIDs[app] else { throw .noIssuerID }
        let key: KeyRing.Key
        do { key = try credentials.ring.signingKey(for: app) } catch { throw .noKey(error) }
        let seconds = now().milliseconds / 1000 - Self.clockAllowanceSeconds
        let terms = Terms(app: app, keyID: key.id, issuerID: issuerID)
        if let known = await shared(terms, at: seconds) { return try known.get() }
        let result = await make(terms, key, at: seconds)
        let waiters = state.withLockedValue { state in
            if case .success(let issued) = result { state.issued[app] = issued }
            return state.waiting.removeValue(forKey: terms) ?? []
        }
        let text = result.map(\.text)
        for waiter in waiters { waiter.resume(returning: text) }
        return try text.get()
    }

    /// - Returns: the current token, or a token that another request is creating; nil if the caller must create one.
    private func shared(_ terms: Terms, at seconds: Int64) async -> Result<String, TokenFault>? {
        await withCheckedContinuation { waiter in
            let step = state.withLockedValue { state -> Step in
                if let known = state.known(terms, at: seconds) { return .use(known) }
                guard state.waiting[terms] == nil else {
                    state.waiting[terms]?.append(waiter)
                    return .wait
                }
                state.waiting[terms] = []
                return .make
            }
            switch step {
            case .use(let text): waiter.resume(returning: .success(text))
            case .make: waiter.resume(returning: nil)
            case .wait: break
            }
        }
    }

    private func make(_ terms: Terms, _ key: KeyRing.Key, at seconds: Int64) async -> Result<Issued, TokenFault> {
        let token = UnsignedAPIToken(
            keyID: terms.keyID, issuerID: terms.issuerID, bundleID: terms.app, issuedAtSeconds: seconds)
        let text: String
        do throws(SigningThreadsFault) {
            let signed = try await key.pair.whereItSigns {
                Result { () throws(SigningFault) in try key.pair.apiToken(for: token) }
            }
            switch signed {
            case .success(let signed): text = signed
            case .failure(let fault): return .failure(.signing(fault))
            }
        } catch { return .failure(.signing(.signingFailed(error))) }
        guard await record(token) else { return .failure(.notRecorded) }
        return .success(Issued(token: token, text: text))
    }

    /// Forgets a token that the App Store refused.
    /// - Parameter text: the refused token. Nothing changes if another token has already replaced it.
    func discard(_ text: String, of app: BundleID) {
        state.withLockedValue { if $0.issued[app]?.text == text { $0.issued[app] = nil } }
    }
}

/// The reason that no token is available for an app.
package enum TokenFault: Error {
    case noIssuerID
    case noKey(KeyRingError)
    case signing(SigningFault)
    /// The token could not be recorded in the audit trail.
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

/// The keys and issuer IDs used to create tokens.
package struct TokenCredentials: Sendable {
    fileprivate let ring: KeyRing
    fileprivate let issuerIDs: IssuerIDs

    package init(ring: KeyRing, issuerIDs: IssuerIDs) {
        self.ring = ring
        self.issuerIDs = issuerIDs
    }
}
