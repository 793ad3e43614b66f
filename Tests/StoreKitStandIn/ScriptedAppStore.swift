// This module stands in for the parts of Apple's StoreKit that OfferSignerClient uses. Only Linux builds it, so that the compiler and
// the tests see the code behind `canImport(StoreKit)`. Its declarations are those of Apple's pages, whose addresses stand above them,
// without availability. Nothing here shows how Apple's StoreKit behaves on a device.

public import Foundation

/// The App Store and the customer, as a test scripts them. Ours, not Apple's.
public final class ScriptedAppStore: Sendable {
    /// The one that StoreKit's functions use in this task and its children.
    @TaskLocal public static var current = ScriptedAppStore()

    /// What the customer or the App Store does with a purchase whose signature is valid.
    public enum Outcome: Sendable {
        case buys
        /// Buys while subscribed to the same product: the offer starts with the next period.
        case buysForNextPeriod
        /// Buys, and the App Store ignores the offer.
        case buysWithoutOffer
        case buysUnverified
        case cancels
        case waitsForApproval
        case fails(any Error)
    }

    /// What a purchase passed to StoreKit.
    public struct Presented: Hashable, Sendable {
        public var productID: String
        public var offerID: String?
        public var appAccountToken: UUID?
        public var applicationUsername: String?
        public var keyID: String?
        /// In lower case.
        public var nonce: String?
        public var timestamp: Int?
        /// In base64.
        public var signature: String?
        public var compactJWS: String?
        public var billingPlan: String?

        public init(
            productID: String, offerID: String? = nil, appAccountToken: UUID? = nil, applicationUsername: String? = nil,
            keyID: String? = nil, nonce: String? = nil, timestamp: Int? = nil, signature: String? = nil,
            compactJWS: String? = nil, billingPlan: String? = nil
        ) {
            self.productID = productID
            self.offerID = offerID
            self.appAccountToken = appAccountToken
            self.applicationUsername = applicationUsername
            self.keyID = keyID
            self.nonce = nonce
            self.timestamp = timestamp
            self.signature = signature
            self.compactJWS = compactJWS
            self.billingPlan = billingPlan
        }
    }

    public struct State: Sendable {
        public var products: [Product] = []
        public var transactions: [VerificationResult<Transaction>] = []
        public var statuses: [Product.SubscriptionInfo.Status] = []
        public var appTransaction: AppTransaction?
        /// One for each purchase; the last one stays.
        public var outcomes: [Outcome] = [.buys]
        /// Each nonce is good for one purchase request.
        public var spent: Set<String> = []
        /// Seconds since 1970, and how long a JWS is valid.
        public var now: Double = 0
        public var lifetimeOfJWS = Double.infinity
        public var presented: [Presented] = []
        public var finished: [UInt64] = []
        /// Verifies a signature as the App Store would.
        public var verify: @Sendable (Presented) async -> Bool = { _ in true }
        var nextID: UInt64 = 9_000
    }

    private let lock = NSLock()
    // Every access holds the lock.
    private nonisolated(unsafe) var state = State()

    public init() {}

    public func with<Result>(_ change: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try unsafe change(&state)
    }

    public var presented: [Presented] { with(\.presented) }
    public var finished: [UInt64] { with(\.finished) }
    var products: [Product] { with(\.products) }
    var transactions: [VerificationResult<Transaction>] { with(\.transactions) }
    var statuses: [Product.SubscriptionInfo.Status] { with(\.statuses) }
    var appTransaction: AppTransaction? { with(\.appTransaction) }

    func finish(_ id: UInt64) { with { $0.finished.append(id) } }

    /// - Returns: nil for a signature that is not valid.
    func outcome(of presented: Presented) async -> Outcome? {
        let (isSpent, tooOld, verify) = with { state in
            state.presented.append(presented)
            let nonce = presented.nonce ?? presented.compactJWS.map { Self.claims($0).nonce }
            let isSpent = nonce.map { !state.spent.insert($0).inserted } ?? false
            let age = presented.compactJWS.map { state.now - Self.claims($0).issuedAt } ?? 0
            return (isSpent, age > state.lifetimeOfJWS, state.verify)
        }
        if presented.offerID != nil {
            guard !isSpent, !tooOld, await verify(presented) else { return nil }
        }
        return with { $0.outcomes.count > 1 ? $0.outcomes.removeFirst() : $0.outcomes[0] }
    }

    func purchase(_ product: Product, _ options: Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult {
        var presented = Presented(productID: product.id)
        for option in options { presented.add(option) }
        guard let outcome = await outcome(of: presented) else { throw Product.PurchaseError.invalidOfferSignature }
        switch outcome {
        case .cancels: return .userCancelled
        case .waitsForApproval: return .pending
        case .fails(let error): throw error
        case .buys, .buysForNextPeriod, .buysWithoutOffer, .buysUnverified:
            let transaction = buy(presented, product.subscription?.subscriptionGroupID, outcome)
            if case .buysUnverified = outcome { return .success(.unverified(transaction, .invalidSignature)) }
            return .success(.verified(transaction))
        }
    }

    func buy(_ presented: Presented, _ groupID: String?, _ outcome: Outcome) -> Transaction {
        with { state in
            state.nextID += 1
            let offer = presented.offerID.map { Transaction.Offer(id: $0, type: .promotional) }
            var (now, next) = (offer, Transaction.Offer?.none)
            if case .buysForNextPeriod = outcome { (now, next) = (nil, offer) }
            if case .buysWithoutOffer = outcome { now = nil }
            let transaction = Transaction(
                id: state.nextID, originalID: state.nextID, productID: presented.productID,
                subscriptionGroupID: groupID, purchaseDate: Date(timeIntervalSince1970: state.now),
                appAccountToken: presented.appAccountToken, offer: now)
            state.transactions.append(.verified(transaction))
            state.statuses.append(
                .init(
                    transaction: .verified(transaction),
                    renewalInfo: .verified(.init(originalTransactionID: state.nextID, offer: next))))
            return transaction
        }
    }

    /// The nonce and the time of a JWS; a text that is not a JWS has an empty nonce.
    private static func claims(_ jws: String) -> (nonce: String, issuedAt: Double) {
        let parts = jws.split(separator: ".")
        guard parts.count == 3 else { return ("", 0) }
        let text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data()
        let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
        return ((object["nonce"] as? String ?? "").lowercased(), object["iat"] as? Double ?? 0)
    }
}

extension ScriptedAppStore.Presented {
    mutating func add(_ option: Product.PurchaseOption) {
        switch option.value {
        case .accountToken(let token): appAccountToken = token
        case .billingPlan(let plan): billingPlan = plan.rawValue
        case .offerJWS(let id, let jws): (offerID, compactJWS) = (id, jws)
        case .offer(let id, let keyID, let nonce, let signature, let timestamp):
            (offerID, self.keyID, self.nonce) = (id, keyID, nonce.uuidString.lowercased())
            (self.signature, self.timestamp) = (signature.base64EncodedString(), timestamp)
        }
    }
}
