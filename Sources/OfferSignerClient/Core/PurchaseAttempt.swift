/// The end of a purchase. Later versions can add values.
public struct PurchaseStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer has the offer, now or from the next period.
    public static let purchased = PurchaseStatus(rawValue: "purchased")
    /// The purchase waits for another person. `Transaction.updates` delivers the transaction.
    public static let pending = PurchaseStatus(rawValue: "pending")
    /// The customer closed the sheet. The signature is spent all the same.
    public static let cancelled = PurchaseStatus(rawValue: "cancelled")
    /// StoreKit accepted the signature, but nothing shows the offer: the customer probably paid the regular price.
    public static let signedButNotApplied = PurchaseStatus(rawValue: "signedButNotApplied")
    /// StoreKit could not verify the transaction.
    public static let unverified = PurchaseStatus(rawValue: "unverified")
}

/// The number of requests for a signature that one tap may still send: the first, and at most two more.
struct FetchBudget: Hashable, Sendable {
    private(set) var left = 3

    /// Takes one request out of the budget.
    /// - Returns: false if none is left.
    mutating func take() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

/// The state of one purchase, from the tap to its end.
///
/// It hands out each signature once: StoreKit takes a signature for one purchase request, even if that request fails.
struct PurchaseAttempt: Hashable, Sendable {
    enum State: Hashable, Sendable {
        case needsSignature
        case buying(SignedOffer)
        case ended(PurchaseStatus)
        case failed
    }

    private(set) var state = State.needsSignature
    var budget = FetchBudget()

    /// Takes a new signature to StoreKit.
    mutating func buy(with signed: SignedOffer) {
        guard state == .needsSignature else { preconditionFailure("a purchase has one signature at a time") }
        state = .buying(signed)
    }

    mutating func end(_ status: PurchaseStatus) { state = .ended(status) }

    mutating func fail() { state = .failed }

    /// Notes that StoreKit rejected the signature.
    ///
    /// A new signature helps if nothing is wrong with this one, which was then used before or is too old. A named defect would be
    /// in the next signature too.
    /// - Parameter explanation: nil if the service gave none. Then only a new signature can tell.
    /// - Returns: whether to fetch a new signature.
    mutating func rejected(_ explanation: OfferExplanation?) -> Bool {
        guard explanation?.verifies ?? true, explanation?.cause == nil, budget.left > 0 else {
            state = .failed
            return false
        }
        state = .needsSignature
        return true
    }
}
