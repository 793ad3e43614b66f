package import OfferAudit
package import OfferCore
package import OfferEligibility

/// An offer with a verified signature, and the response bodies that contain it.
package struct SignedOffer: Hashable, Sendable {
    package let payload: OfferPayload
    /// nil if only a JWS was made.
    package let signature: OfferSignature?
    package let jws: OfferJWS
    /// nil for an offer without a rule.
    package let decision: SignedDecision?
    /// The plan with which the app must buy; nil if the catalogue names none. A signature does not contain it.
    package let billingPlan: BillingPlanType?

    package init(
        payload: OfferPayload, signature: OfferSignature?, jws: OfferJWS = .notWanted, decision: SignedDecision? = nil,
        billingPlan: BillingPlanType? = nil
    ) {
        self.payload = payload
        self.signature = signature
        self.jws = jws
        self.decision = decision
        self.billingPlan = billingPlan
    }

    /// The time at which the App Store stops accepting the signature.
    package var expiresAt: Timestamp {
        Timestamp(milliseconds: payload.timestamp.milliseconds + Timestamp.signatureLifetimeMilliseconds)
    }

    /// Returns the body of `/offer`, with the same members as Apple's sample.
    /// - Parameter namesCustomer: true to append the customer, which is done for signed-in users and for callers with
    ///   hashed usernames.
    package func sampleBody(namesCustomer: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writeSignature(to: &writer)
        if namesCustomer { writeCustomer(to: &writer) }
        return writer.finish()
    }

    /// The body of `/v1/promotional-offers`.
    package var v1Body: [UInt8] {
        var writer = JSONWriter()
        writeV1(to: &writer)
        return writer.finish()
    }

    /// Writes the signed fields and both signatures. `expiresAt` is in milliseconds, like `timestamp`. It applies only
    /// to `signature`, because Apple does not document how long the App Store accepts a JWS.
    func writeV1(to writer: inout JSONWriter) {
        writer.member("bundleID", utf8: payload.appBundleID.text.utf8)
        writer.member("productID", utf8: payload.productIdentifier.text.utf8)
        writeOfferAndCustomer(to: &writer)
        writeSignatures(to: &writer)
    }

    /// Writes both signatures and the billing plan without the signed fields.
    func writeSignatures(to writer: inout JSONWriter) {
        if let billingPlan { writer.member("billingPlanType", billingPlan.rawValue) }
        if signature != nil {
            writer.member("expiresAt", expiresAt.milliseconds)
            writer.object("signature") { writeSignature(to: &$0) }
        }
        writeJWS(to: &writer)
        if case .missing(let gaps) = jws { writer.member("compactJWSMissing", gaps.codes) }
    }

    /// The output of `offer-signer sign`: every value that the app passes to StoreKit, in the flat form that `verify`
    /// reads.
    package var commandOutput: [UInt8] {
        var writer = JSONWriter()
        writer.member("appBundleID", utf8: payload.appBundleID.text.utf8)
        writer.member("productIdentifier", utf8: payload.productIdentifier.text.utf8)
        writeOfferAndCustomer(to: &writer)
        writeSignature(to: &writer)
        writeJWS(to: &writer)
        // If both prerequisites are missing, the command did not request a JWS.
        if case .missing(let gaps) = jws, gaps != [.issuerID, .transactionID] {
            writer.member("compactJWSMissing", gaps.codes)
        }
        return writer.finish()
    }

    private func writeJWS(to writer: inout JSONWriter) {
        guard case .made(let jws) = jws else { return }
        if case .promotionalOffer(_, _, let transactionID?) = jws.content.request {
            writer.member("transactionID", utf8: transactionID.text.utf8)
        }
        writer.member("compactJWS", utf8: jws.text)
    }

    private func writeOfferAndCustomer(to writer: inout JSONWriter) {
        writer.member("offerID", utf8: payload.offerID.text.utf8)
        writeCustomer(to: &writer)
    }

    private func writeCustomer(to writer: inout JSONWriter) {
        switch payload.customer {
        case .applicationUsername(let text): writer.member("applicationUsername", utf8: text.utf8)
        case .appAccountToken(let uuid): writer.member("appAccountToken", utf8: uuid.utf8)
        }
    }

    private func writeSignature(to writer: inout JSONWriter) {
        writer.member("keyID", utf8: payload.keyID.text.utf8)
        writer.member("nonce", utf8: payload.nonce.uuid.utf8)
        writer.member("timestamp", payload.timestamp.milliseconds)
        if let signature { writer.member("signature", utf8: signature.base64) }
    }
}
