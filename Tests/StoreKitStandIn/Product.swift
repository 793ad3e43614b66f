@_exported public import Foundation

/// https://developer.apple.com/documentation/storekit/product
public struct Product: Identifiable, Hashable, Sendable {
    public let id: String
    public let subscription: SubscriptionInfo?

    /// Ours: StoreKit makes products only for itself.
    public init(id: String, subscriptionGroupID: String) {
        self.id = id
        subscription = SubscriptionInfo(subscriptionGroupID: subscriptionGroupID)
    }

    /// https://developer.apple.com/documentation/storekit/product/products(for:)
    public static func products<Identifiers: Collection<String>>(for identifiers: Identifiers) async throws -> [Product]
    {
        ScriptedAppStore.current.products.filter { identifiers.contains($0.id) }
    }

    /// https://developer.apple.com/documentation/storekit/product/purchase(options:)
    @MainActor public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        try await ScriptedAppStore.current.purchase(self, options)
    }
}

extension Product {
    /// https://developer.apple.com/documentation/storekit/product/purchaseresult
    public enum PurchaseResult: Sendable {
        case success(VerificationResult<Transaction>)
        case userCancelled
        case pending
    }

    /// https://developer.apple.com/documentation/storekit/product/purchaseerror
    public enum PurchaseError: Error, Sendable {
        case invalidQuantity, productUnavailable, purchaseNotAllowed, ineligibleForOffer, invalidOfferIdentifier
        case invalidOfferPrice, invalidOfferSignature, missingOfferParameters
    }

    /// https://developer.apple.com/documentation/storekit/product/producttype
    public struct ProductType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
        public static let consumable = ProductType(rawValue: "Consumable")
    }

    /// https://developer.apple.com/documentation/storekit/product/purchaseoption
    public struct PurchaseOption: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case accountToken(UUID)
            case offer(id: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int)
            case offerJWS(id: String, jws: String)
            case billingPlan(SubscriptionInfo.BillingPlanType)
        }

        let value: Value

        /// https://developer.apple.com/documentation/storekit/product/purchaseoption/appaccounttoken(_:)
        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(value: .accountToken(token))
        }

        /// https://developer.apple.com/documentation/storekit/product/purchaseoption/promotionaloffer(offerid:keyid:nonce:signature:timestamp:)
        public static func promotionalOffer(
            offerID: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int
        ) -> PurchaseOption {
            PurchaseOption(
                value: .offer(id: offerID, keyID: keyID, nonce: nonce, signature: signature, timestamp: timestamp))
        }

        /// https://developer.apple.com/documentation/storekit/product/purchaseoption/promotionaloffer(_:compactjws:)
        public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] {
            [PurchaseOption(value: .offerJWS(id: offerID, jws: compactJWS))]
        }

        /// https://developer.apple.com/documentation/storekit/product/purchaseoption/billingplantype(_:)
        public static func billingPlanType(_ type: SubscriptionInfo.BillingPlanType) -> PurchaseOption {
            PurchaseOption(value: .billingPlan(type))
        }
    }
}

extension Product {
    /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo
    public struct SubscriptionInfo: Hashable, Sendable {
        public let subscriptionGroupID: String

        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/status-swift.property
        public var status: [Status] { get async throws { try await Self.status(for: subscriptionGroupID) } }

        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/status(for:)
        public static func status(for groupID: String) async throws -> [Status] {
            ScriptedAppStore.current.statuses.filter {
                $0.transaction.unsafePayloadValue.subscriptionGroupID == groupID
            }
        }

        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/billingplantype
        public struct BillingPlanType: RawRepresentable, Hashable, Sendable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let monthly = BillingPlanType(rawValue: "MONTHLY")
            public static let upFront = BillingPlanType(rawValue: "BILLED_UPFRONT")
        }

        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/status-swift.struct
        public struct Status: Sendable {
            public let transaction: VerificationResult<Transaction>
            public let renewalInfo: VerificationResult<RenewalInfo>

            public init(transaction: VerificationResult<Transaction>, renewalInfo: VerificationResult<RenewalInfo>) {
                self.transaction = transaction
                self.renewalInfo = renewalInfo
            }
        }

        /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/renewalinfo
        public struct RenewalInfo: Sendable {
            public let originalTransactionID: UInt64
            /// https://developer.apple.com/documentation/storekit/product/subscriptioninfo/renewalinfo/offer
            public let offer: Transaction.Offer?
            public var offerID: String? { offer?.id }
            public var offerType: Transaction.OfferType? { offer?.type }
            let jws: String

            public init(originalTransactionID: UInt64, offer: Transaction.Offer? = nil, jws: String = "renewal.jws") {
                self.originalTransactionID = originalTransactionID
                self.offer = offer
                self.jws = jws
            }
        }
    }
}
