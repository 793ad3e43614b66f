#if canImport(StoreKit)
    import Foundation
    import StoreKit

    extension SignedOffer {
        /// Whether StoreKit 2 gets the original form, because there is no JWS.
        var usesOriginalForm: Bool { compactJWS == nil }

        /// The options for `Product.purchase(options:)`: the signature, the account token that was signed, and the plan.
        func purchaseOptions() throws(OfferError) -> Set<Product.PurchaseOption> {
            var options = try billingPlan.map { plan throws(OfferError) in try Self.options(for: plan) } ?? []
            let token = accountToken
            if let token { options.insert(.appAccountToken(token)) }
            if let compactJWS {
                options.formUnion(Product.PurchaseOption.promotionalOffer(offer.offerID, compactJWS: compactJWS))
                return options
            }
            guard let signature, let timestamp = Int(exactly: signature.timestamp) else {
                throw OfferError(.noUsableSignature, "the answer has no signature that fits this device")
            }
            // The original form covers the identifier. StoreKit 2 can attach only a token.
            guard
                token?.uuidString.lowercased() == customer.appAccountToken ?? customer.applicationUsername
                    || customer == .anonymous
            else {
                throw OfferError(
                    .noUsableSignature,
                    "StoreKit 2 cannot attach a username. Send an account token, get a JWS, or buy with StoreKit 1.")
            }
            options.insert(
                .promotionalOffer(
                    offerID: offer.offerID, keyID: signature.keyID, nonce: signature.nonceUUID,
                    signature: signature.der,
                    timestamp: timestamp))
            return options
        }

        /// The token to attach: the signed one, or a username that is a UUID.
        private var accountToken: UUID? {
            (customer.appAccountToken ?? customer.applicationUsername).flatMap { UUID(uuidString: $0) }
        }

        /// The option for a plan; none for the plan that StoreKit uses by itself where it knows no others.
        ///
        /// The option came with the SDK of Xcode 26.5, for iOS 26.4 and later.
        static func options(for plan: BillingPlan) throws(OfferError) -> Set<Product.PurchaseOption> {
            #if compiler(>=6.3)
                if #available(iOS 26.4, macOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) {
                    switch plan {
                    case .monthly: return [.billingPlanType(.monthly)]
                    case .billedUpFront: return [.billingPlanType(.upFront)]
                    default: break
                    }
                }
            #endif
            guard plan == .billedUpFront else {
                throw OfferError(.billingPlanUnavailable, "this system cannot buy with the plan \(plan.rawValue)")
            }
            return []
        }
    }
#endif
