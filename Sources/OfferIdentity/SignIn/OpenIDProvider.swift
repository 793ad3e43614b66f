package import OfferCore
import OfferCrypto
package import OutgoingHTTP

/// An identity provider that signs people in to the console: the authorization code flow of OpenID Connect Core 1.0 with
/// PKCE (RFC 7636).
///
/// It keeps the provider's discovery document for an hour and its keys for five minutes. Sign-ins are rare, so it fetches
/// only when a person signs in.
package actor OpenIDProvider {
    private let settings: SignInSettings
    private let client: any HTTPExchange
    private let timeout: Duration
    private var metadata = Fetched<ProviderMetadata>(every: .hours(1))
    private var keys = Fetched<(set: UserKeySet, place: ProviderURL)>(every: .seconds(300))

    /// - Parameters:
    ///   - client: usually ``SignInSettings/makeClient()``.
    ///   - timeout: the time limit for each answer of the provider.
    package init(_ settings: SignInSettings, client: any HTTPExchange, timeout: Duration = .seconds(10)) {
        self.settings = settings
        self.client = client
        self.timeout = timeout
    }

    /// Begins a sign-in.
    /// - Parameter page: the page to show after the sign-in.
    /// - Returns: the address to redirect the browser to, and what its cookie must keep.
    package func begin(
        returningTo page: ReturnPage = .start, at now: Timestamp
    ) async throws(SignInError) -> (location: String, pending: PendingSignIn) {
        let metadata = try await currentMetadata(at: now)
        do {
            let pending = try PendingSignIn.make(page: page, at: now)
            return (try AuthorizationRequest.location(for: pending, settings, metadata), pending)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Finishes a sign-in: answer → state → provider → code → ID token → person.
    /// - Parameters:
    ///   - query: the query with which the browser came back: the text after `?`, not decoded.
    ///   - pending: the sign-in in the browser's cookie, which must be deleted now.
    package func finish(
        query: String, _ pending: PendingSignIn, at now: Timestamp
    ) async throws(SignInError) -> SignedInPerson {
        let answer = try AuthorizationAnswer(query: query)
        try answer.require(pending, at: now)
        let metadata = try await currentMetadata(at: now)
        let code = try answer.code(from: settings.issuer, isIssuerRequired: metadata.answersHaveIssuer)
        let response = try await exchange(
            try TokenExchange.request(for: code, pending, settings, metadata), with: "token endpoint")
        let text = try TokenExchange.token(in: response, from: settings.issuer)
        let token: IDToken
        do { token = try IDToken(text, from: settings.issuer) } catch { throw .invalidToken(error) }
        let key = try await key(of: token, metadata, at: now)
        return try token.person(verifiedBy: key, settings, nonce: pending.nonce, at: now)
    }

    // MARK: What the provider publishes

    private static let maximumDocument = 256 * 1024

    private func currentMetadata(at now: Timestamp) async throws(SignInError) -> ProviderMetadata {
        if metadata.isDue(at: now) {
            do throws(SignInError) {
                let text = try await document(ProviderMetadata.address(for: settings.issuer))
                do { metadata.succeed(with: try ProviderMetadata(text, of: settings.issuer), at: now) } catch {
                    throw .provider(error)
                }
            } catch {
                metadata.fail(with: error, at: now)
            }
        }
        return try metadata.requireValue(at: now)
    }

    /// Finds the key of a token, and fetches the keys once more if it is unknown.
    private func key(
        of token: IDToken, _ metadata: ProviderMetadata, at now: Timestamp
    ) async throws(SignInError) -> UserKeySet.Key {
        if keys.value(at: now).map({ $0.place != metadata.keys }) ?? false { keys = Fetched(every: .seconds(300)) }
        if keys.isDue(at: now) { await fetchKeys(metadata.keys, at: now) }
        if let key = token.key(in: try keys.requireValue(at: now).set) { return key }
        if keys.isDue(at: now, isRequested: true) { await fetchKeys(metadata.keys, at: now) }
        guard let key = token.key(in: try keys.requireValue(at: now).set) else { throw .invalidToken(.unknownKey) }
        return key
    }

    private func fetchKeys(_ place: ProviderURL, at now: Timestamp) async {
        do throws(SignInError) {
            let text = try await document(place.text)
            do throws(KeySetFault) {
                keys.succeed(
                    with: (try JSONWebKeySet.keys(in: text, from: "\(KeySetLocation.url(place.text))").set, place),
                    at: now)
            } catch {
                keys.fail(with: .provider(error.problem), at: now, isRevoked: error.kind == .unusable)
            }
        } catch {
            keys.fail(with: error, at: now)
        }
    }

    private func document(_ url: String) async throws(SignInError) -> [UInt8] {
        // Without its query, which may contain a credential.
        let place = "\(KeySetLocation.url(url))"
        let request = OutgoingRequest(
            "GET", url, headers: [("Accept", "application/json")], maximumResponse: Self.maximumDocument)
        let response = try await exchange(request, with: "server at \(place)")
        guard response.status == 200 else {
            throw .provider(
                Diagnostic(
                    "\(place) answered with HTTP status \(response.status)", hint: "check the issuer and the provider"))
        }
        return response.body
    }

    /// - Parameter name: the name of the server in the log.
    private func exchange(
        _ request: OutgoingRequest, with name: String
    ) async throws(SignInError) -> IncomingResponse {
        do throws(OutgoingFailure) { return try await client.exchange(request, within: timeout) } catch {
            throw .provider(
                Diagnostic(
                    "the \(name) of the identity provider \(settings.issuer.text) \(error)",
                    hint: "check that the service can reach the provider and trusts its certificate"))
        }
    }
}
