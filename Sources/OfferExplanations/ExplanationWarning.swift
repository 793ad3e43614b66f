/// A possible problem that the signature can neither prove nor rule out. Evidence is often examined long after signing,
/// and the key may have been retired in the meantime.
package enum ExplanationWarning: String, CaseIterable, Hashable, Sendable {
    case olderThan24Hours = "older_than_24_hours"
    case issuedLongAgo = "issued_long_ago"
    case aheadOfClock = "ahead_of_clock"
    case keyRetired = "key_retired"
    case keyOutOfService = "key_out_of_service"
    case customerUndefined = "customer_undefined"
    case nonceInCapitals = "nonce_in_capitals"
    case issuerInCapitals = "issuer_in_capitals"
    case claimOfOtherKind = "claim_of_other_kind"
    case anotherBillingPlan = "another_billing_plan"
    case searchCutShort = "search_cut_short"

    package var sentence: String {
        switch self {
        case .olderThan24Hours:
            "The timestamp is more than 24 hours old: the App Store now rejects the signature."
        case .issuedLongAgo:
            "iat is more than 24 hours in the past. Apple does not say how long a JWS stays valid, so create one per purchase."
        case .aheadOfClock:
            "The signature's time is ahead of this machine's clock: the App Store may reject it. Check both clocks (NTP)."
        case .keyRetired:
            "The key is retired here. If it is revoked in App Store Connect, the App Store rejects its signatures."
        case .keyOutOfService:
            "The key is out of service here: one of its signatures did not verify."
        case .customerUndefined:
            "applicationUsername is a string such as undefined, null or Optional(…): check whether this is intended."
        case .nonceInCapitals:
            "The nonce has upper-case letters. As far as we know, a JWS may have them, but lower case is safer."
        case .issuerInCapitals:
            """
            iss has upper-case letters. App Store Connect shows it in lower case, and Apple does not say that the two \
            are equivalent.
            """
        case .claimOfOtherKind:
            """
            compactJWS has a claim for another kind of request: offerIdentifier, allowIntroductoryOffer and request \
            never occur together. Apple does not say how it treats the extra claim: omit it.
            """
        case .anotherBillingPlan:
            """
            billingPlanType is not the plan of this offer in the configuration. An offer is for one billing plan, and \
            the App Store applies it only if the app buys with that plan.
            """
        case .searchCutShort:
            "The search stopped early: there are more keys or combinations than one request may try."
        }
    }
}
