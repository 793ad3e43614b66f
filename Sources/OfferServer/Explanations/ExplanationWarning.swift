/// What may be wrong beside the signature, and cannot be told from it: the evidence is often looked at later, and a key may have
/// been retired since.
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
    case searchCutShort = "search_cut_short"

    package var sentence: String {
        switch self {
        case .olderThan24Hours:
            "The timestamp is more than 24 hours ago: by now the App Store refuses the signature."
        case .issuedLongAgo:
            "iat is more than 24 hours ago. Apple does not say for how long a JWS is good: make one for each purchase."
        case .aheadOfClock:
            "The time of the signature is ahead of the clock here: the App Store may refuse it. Look at both clocks (NTP)."
        case .keyRetired:
            "The key is retired here. If it is revoked in App Store Connect, the App Store refuses what it signed."
        case .keyOutOfService:
            "The key is out of service here: one of its signatures did not verify."
        case .customerUndefined:
            "applicationUsername is a text such as undefined, null or Optional(…): look whether the app means it."
        case .nonceInCapitals:
            "The nonce is in capitals. In a JWS that is allowed, as far as is known; lower case is safe."
        case .issuerInCapitals:
            """
            iss is in capitals. App Store Connect shows it in lower case, and Apple does not say that in capitals it is the \
            same.
            """
        case .claimOfOtherKind:
            """
            compactJWS has a claim of another kind of request beside its own: offerIdentifier, allowIntroductoryOffer and request \
            are never together. Apple does not say what becomes of it: leave it out.
            """
        case .searchCutShort:
            "There are more keys or combinations than are tried at one request."
        }
    }
}
