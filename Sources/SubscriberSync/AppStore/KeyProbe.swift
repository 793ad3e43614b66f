package import AppStoreAPI
import OfferConfiguration
package import OfferCore
package import OfferEligibility
package import OutgoingHTTP

/// Sends a harmless request with each key and diagnoses a 401.
package struct KeyProbe: Sendable {
    /// The App Store's verdict on a token.
    package enum Verdict: Sendable {
        case accepted
        /// HTTP status 401. If the clock is wrong, it is the likely cause.
        case refused(ClockError?)
        /// The answer says nothing about the token.
        case unknown(APIFailure)
    }

    /// The verdicts on one key for one app.
    package struct Result: Sendable {
        package let keyID: KeyID
        package let bundleID: BundleID
        /// True if the key signs for the app.
        package let signs: Bool
        package let verdicts: [AppStoreEnvironment: Verdict]

        package init(
            keyID: KeyID, bundleID: BundleID, signs: Bool, verdicts: [AppStoreEnvironment: Verdict]
        ) {
            self.keyID = keyID
            self.bundleID = bundleID
            self.signs = signs
            self.verdicts = verdicts
        }
    }

    /// Tries the key of each app. Keys that sign for no app are tried with the first app.
    /// - Parameters:
    ///   - apps: the apps with an issuer ID.
    ///   - transport: sends the requests to `hosts`.
    package static func results(
        of ring: KeyRing, apps: [BundleID], issuerIDs: IssuerIDs, hosts: APIHosts, transport: any HTTPExchange,
        now: @escaping @Sendable () -> Timestamp
    ) async -> [Result] {
        var pairs: [(key: KeyRing.Key, app: BundleID, signs: Bool)] = []
        for app in apps {
            if let key = try? ring.signingKey(for: app) { pairs.append((key, app, true)) }
        }
        for key in ring.keyIDs.compactMap(ring.key) where !pairs.contains(where: { $0.key.id == key.id }) {
            if let app = apps.first { pairs.append((key, app, false)) }
        }
        var results: [Result] = []
        for pair in pairs {
            let credentials = TokenCredentials(ring: KeyRing(active: pair.key), issuerIDs: issuerIDs)
            let client = AppStoreClient(
                hosts: hosts, tokens: TokenSource(credentials: { credentials }, now: now), transport: transport,
                pacing: Pacing(now: now))
            var verdicts: [AppStoreEnvironment: Verdict] = [:]
            for environment in [AppStoreEnvironment.production, .sandbox] {
                verdicts[environment] = await verdict(
                    of: client, on: AppScope(bundleID: pair.app, environment: environment))
            }
            results.append(Result(keyID: pair.key.id, bundleID: pair.app, signs: pair.signs, verdicts: verdicts))
        }
        return results
    }

    /// Requests a transaction that does not exist. An answer about it shows that the token was accepted.
    private static func verdict(of client: AppStoreClient, on app: AppScope) async -> Verdict {
        do throws(APIFailure) {
            _ = try await client.send(.transactionInfo(of: .neverIssued), for: app)
            return .accepted
        } catch {
            switch error {
            case .unauthorised(let clock): return .refused(clock)
            case .limited: return .accepted
            // An error about an unknown app says nothing about the key.
            case .refused(let code) where !code.isRetryable && !code.isOfApp: return .accepted
            default: return .unknown(error)
            }
        }
    }
}

extension KeyProbe.Result {
    /// Returns the problem with this key and its likely cause, given the other results.
    package func problem(beside others: [KeyProbe.Result]) -> Diagnostic? {
        let refused = verdicts.filter { if case .refused = $0.value { true } else { false } }
        for case .unknown(let failure) in verdicts.values {
            return Diagnostic("key \(keyID) could not be tried for \(name): \(failure)", hint: failure.hint)
        }
        if refused.isEmpty { return nil }
        for case .refused(let clock?) in refused.values {
            return Diagnostic(
                "the App Store does not accept key \(keyID) for \(name), and \(clock)",
                hint: "set the clock of this machine, then try again; the key may be valid")
        }
        if refused.count < verdicts.count {
            return refused[.production] != nil
                ? Diagnostic(
                    "the App Store accepts key \(keyID) for \(name) only in the sandbox",
                    hint:
                        "an app that was never released does not exist in production; after the release, this warning should "
                        + "disappear"
                )
                : Diagnostic(
                    "the App Store accepts key \(keyID) for \(name) only in production",
                    hint: "this is unusual; try again, and look at Apple's system status page")
        }
        let isAnotherAccepted = others.contains { other in
            other.keyID != keyID && other.bundleID == bundleID
                && other.verdicts.values.contains { if case .accepted = $0 { true } else { false } }
        }
        return Diagnostic(
            "the App Store does not accept key \(keyID) for \(name)",
            hint: isAnotherAccepted
                ? "another key is accepted, so this one was revoked, is for the App Store Connect API, or belongs to another "
                    + "team"
                : "compare the issuer ID with the one above the In-App Purchase keys in App Store Connect, and check that "
                    + "the key is one of those, not one for the App Store Connect API, and that the bundle ID belongs to "
                    + "the same team"
        )
    }

    /// True if the problem is only a warning: the key does not sign, or only production refuses it.
    package var isWarning: Bool {
        if !signs { return true }
        if case .refused = verdicts[.production], case .accepted = verdicts[.sandbox] { return true }
        return false
    }

    private var name: String { bundleID.text.description }
}
