import Foundation

/// One offer in one form. At most one signature of a slot is requested at a time.
struct Slot: Hashable, Sendable {
    let productID: String
    let offerID: String
    let form: SignatureForm
}

extension OfferClient {
    /// Signs an offer for a purchase that starts at once. Use the StoreKit layer instead where there is StoreKit.
    public func sign(_ offer: Offer, proofs: DeviceProofs = .none) async throws(OfferError) -> SignedOffer {
        var budget = FetchBudget()
        return try await sign(offer, form: .any, proofs: proofs, &budget)
    }

    /// - Parameter budget: the requests that this purchase may still send.
    func sign(
        _ offer: Offer, form: SignatureForm, proofs: DeviceProofs, _ budget: inout FetchBudget
    ) async throws(OfferError) -> SignedOffer {
        let (customer, session) = try current()
        guard offer.session == session else {
            throw OfferError(.anotherSession, "the offer was fetched for another customer: list the offers again")
        }
        let form = api.isSample ? .original : form
        let slot = Slot(productID: offer.productID, offerID: offer.offerID, form: form)
        guard inProgress.insert(slot).inserted else {
            throw OfferError(.inProgress, "a signature of this offer is being requested")
        }
        let request =
            kept(slot)
            ?? KeyedRequest(
                key: runtime.makeKey(), path: form.path, body: body(offer, customer, form: form, proofs: proofs))
        if unanswered[slot]?.request != request {
            unanswered[slot] = UnansweredRequest(request: request, since: runtime.uptime())
        }
        let answer: TransportAnswer
        do {
            answer = try await exchange(request, &budget)
        } catch {
            // After a sign-out, the slot may already be another customer's.
            if signedIn?.session == session {
                inProgress.remove(slot)
                if error.settlesOutcome || unanswered[slot]?.isLost != true { unanswered[slot] = nil }
            }
            throw error
        }
        try check(session)
        inProgress.remove(slot)
        let signed = try signed(offer, for: customer, form: form, answer)
        unanswered[slot] = nil
        return signed
    }

    /// Returns a request of the slot whose answer was lost, if the service still keeps that answer.
    private func kept(_ slot: Slot) -> KeyedRequest? {
        guard let known = unanswered[slot], runtime.uptime() - known.since < Self.keptSeconds else { return nil }
        return known.request
    }

    /// The service keeps the answer of a key for ten minutes at least.
    private static let keptSeconds: TimeInterval = 600

    private func signed(
        _ offer: Offer, for customer: OfferCustomer, form: SignatureForm, _ answer: TransportAnswer
    ) throws(OfferError) -> SignedOffer {
        let result: Result<SignedOffer, Malformed>
        if form == .original {
            let sample = try decode(SampleAnswer.self, answer)
            result = Result { () throws(Malformed) in try sample.signed(offer, for: customer) }
        } else {
            let signing = try decode(SigningAnswer.self, answer)
            let date = answer.header("Date").flatMap(ServerClock.seconds)
            result = Result { () throws(Malformed) in
                try signing.signed(offer, of: bundleID, for: customer, answeredAt: date)
            }
        }
        return try result.mapError { OfferError(.unreadableAnswer, $0.what) }.get()
    }

    private func body(_ offer: Offer, _ customer: OfferCustomer, form: SignatureForm, proofs: DeviceProofs) -> Data {
        guard form == .original else {
            return SigningRequest(
                bundleID: bundleID, productID: offer.productID, offerID: offer.offerID,
                appAccountToken: customer.appAccountToken, applicationUsername: customer.applicationUsername,
                transactionID: proofs.transactionID, environment: proofs.environment, placement: offer.placement,
                link: offer.link?.withoutQuery,
                proofs: ProofsBody(proofs)
            ).json
        }
        return SampleRequest(
            appBundleID: bundleID, productIdentifier: offer.productID, offerID: offer.offerID,
            appAccountToken: customer.appAccountToken, applicationUsername: customer.applicationUsername,
            environment: api.isSample ? nil : proofs.environment
        ).json
    }
}

extension OfferError {
    /// True if the service refused this request, so nothing is reserved for it.
    ///
    /// An expired token, another host, a limit, an overload or a gateway would meet any request. They say nothing about an earlier request with the
    /// same key whose answer was lost: the customer's place may be reserved, and only this key leads to it.
    fileprivate var settlesOutcome: Bool {
        guard let status, code != .unreadableAnswer else { return false }
        return (400..<500).contains(status) && ![401, 408, 421, 429].contains(status)
    }
}

extension OfferClient {
    /// Finds out why StoreKit rejected a signature. The token needs the scope `explain`, which users' tokens do not have.
    /// - Parameters:
    ///   - original: whether StoreKit got ``SignedOffer/signature`` although there is a ``SignedOffer/compactJWS``.
    ///   - storeKitError: the error as StoreKit names it.
    public func explain(
        _ signed: SignedOffer, original: Bool = false, storeKitError: String
    ) async throws(OfferError) -> OfferExplanation {
        guard !api.isSample else { throw OfferError(.notSupported, "Apple's sample explains nothing") }
        let body = ExplanationRequest(
            signed, bundleID: bundleID, original: original, storeKitError: storeKitError)
        var budget = FetchBudget()
        let answer = try await exchange(
            KeyedRequest(key: runtime.makeKey(), path: "v1/explanations", body: body.json), &budget)
        return try decode(ExplanationAnswer.self, answer).value
    }
}
