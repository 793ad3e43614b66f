#if canImport(StoreKit)
    import Foundation
    public import StoreKit

    /// A purchase that StoreKit took. The client never finishes its transaction: the app does, once the customer has what they bought.
    public struct OfferPurchase: Sendable {
        public let status: PurchaseStatus
        /// The transaction; nil for a purchase that is pending or cancelled.
        public let transaction: VerificationResult<Transaction>?
        /// Whether the offer starts with the next period, as for a customer who is subscribed to the same product.
        public let startsNextPeriod: Bool
    }

    /// Starts a purchase of StoreKit 2, such as SwiftUI's `PurchaseAction` or `Product.purchase(confirmIn:options:)`.
    public typealias StartPurchase =
        @MainActor @Sendable (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult

    extension OfferClient {
        #if !os(visionOS)
            /// Signs the offer and buys it with `Product.purchase(options:)`. Call it at the tap.
            public nonisolated func purchase(_ product: Product, with offer: Offer) async throws(OfferError)
                -> OfferPurchase
            {
                try await purchase(product, with: offer) { try await $0.purchase(options: $1) }
            }
        #endif

        /// Signs the offer and buys it. Call it at the tap.
        ///
        /// It attaches the signed account token and the plan, checks that the offer applies, and reports the event. If StoreKit
        /// rejects the signature, it asks the service why. It fetches a new signature at most twice, and not if the service names a
        /// cause, because the next signature would have it too.
        /// - Parameter start: shows StoreKit's sheet, once for each signature.
        public nonisolated func purchase(
            _ product: Product, with offer: Offer, start: StartPurchase
        ) async throws(OfferError) -> OfferPurchase {
            guard product.id == offer.productID else {
                throw OfferError(.anotherProduct, "the offer is for \(offer.productID), not for \(product.id)")
            }
            // Before a signature is spent on a plan that cannot be bought.
            if let plan = offer.billingPlan { _ = try SignedOffer.options(for: plan) }
            let proofs = await DeviceProofs.gathered(for: product)
            var attempt = PurchaseAttempt()
            var rejection: OfferError?
            while true {
                let signed: SignedOffer
                do {
                    signed = try await sign(offer, form: .any, proofs: proofs, &attempt.budget)
                } catch {
                    // The second signature may be refused because the first one is still counted. The rejection is the cause.
                    throw rejection ?? error
                }
                let options = try signed.purchaseOptions()
                attempt.buy(with: signed)
                do {
                    let result = try await start(product, options)
                    let purchase = await conclude(result, of: product, signed)
                    attempt.end(purchase.status)
                    return purchase
                } catch {
                    let name = Self.name(of: error)
                    if case .userCancelled? = error as? StoreKitError {
                        await note(.failed, of: signed, original: signed.usesOriginalForm, error: Self.cancelled)
                        return OfferPurchase(status: .cancelled, transaction: nil, startsNextPeriod: false)
                    }
                    await note(.failed, of: signed, original: signed.usesOriginalForm, error: name)
                    guard case .invalidOfferSignature? = error as? Product.PurchaseError else {
                        attempt.fail()
                        throw Self.failure(.purchaseFailed, storeKitError: name)
                    }
                    let explanation = try? await explain(
                        signed, original: signed.usesOriginalForm, storeKitError: name)
                    let failure = Self.failure(.signatureRejected, storeKitError: name, explanation: explanation)
                    rejection = failure
                    guard attempt.rejected(explanation) else { throw failure }
                }
            }
        }

        /// Checks what became of a purchase, and reports it.
        private nonisolated func conclude(
            _ result: Product.PurchaseResult, of product: Product, _ signed: SignedOffer
        ) async -> OfferPurchase {
            let original = signed.usesOriginalForm
            switch result {
            case .success(.verified(let transaction)):
                let place = await Self.place(of: signed.offer.offerID, after: transaction, of: product)
                if let place {
                    await note(.purchased, of: signed, original: original)
                    return OfferPurchase(
                        status: .purchased, transaction: .verified(transaction), startsNextPeriod: place == .nextPeriod)
                }
                let status = PurchaseStatus.signedButNotApplied
                await note(.failed, of: signed, original: original, error: status.rawValue)
                return OfferPurchase(status: status, transaction: .verified(transaction), startsNextPeriod: false)
            case .success(let unverified):
                await note(.failed, of: signed, original: original, error: PurchaseStatus.unverified.rawValue)
                return OfferPurchase(status: .unverified, transaction: unverified, startsNextPeriod: false)
            case .pending:
                await note(.pending, of: signed, original: original)
                return OfferPurchase(status: .pending, transaction: nil, startsNextPeriod: false)
            case .userCancelled:
                await note(.failed, of: signed, original: original, error: Self.cancelled)
                return OfferPurchase(status: .cancelled, transaction: nil, startsNextPeriod: false)
            @unknown default:
                return OfferPurchase(status: .init(rawValue: "unknown"), transaction: nil, startsNextPeriod: false)
            }
        }

        /// The error in the event of a closed sheet. It is not `dismissed`, which would say that the customer refused the offer.
        static let cancelled = "userCancelled"

        enum Place {
            case transaction
            case nextPeriod
        }

        /// Where the offer applies: in the transaction, or in the next period if the customer was subscribed to the product before.
        static func place(of offerID: String, after transaction: Transaction, of product: Product?) async -> Place? {
            if #available(iOS 17.2, macOS 14.2, tvOS 17.2, watchOS 10.2, visionOS 1.1, *) {
                if transaction.offer?.type == .promotional, transaction.offer?.id == offerID { return .transaction }
            } else if transaction.offerType == .promotional, transaction.offerID == offerID {
                return .transaction
            }
            guard let group = product?.subscription?.subscriptionGroupID ?? transaction.subscriptionGroupID else {
                return nil
            }
            for status in (try? await Product.SubscriptionInfo.status(for: group)) ?? [] {
                guard case .verified(let info) = status.renewalInfo,
                    info.originalTransactionID == transaction.originalID
                else { continue }
                if #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) {
                    if info.offer?.type == .promotional, info.offer?.id == offerID { return .nextPeriod }
                } else if info.offerType == .promotional, info.offerID == offerID {
                    return .nextPeriod
                }
            }
            return nil
        }

        /// The name of an error, as the service's explanations know it.
        static func name(of error: any Error) -> String {
            switch error {
            case let error as Product.PurchaseError: name(of: error)
            case let error as StoreKitError: String(describing: error)
            case let error as SKError: "SKError \(error.code.rawValue)"
            default: String(describing: error)
            }
        }

        /// The names of the cases. How StoreKit describes an error is not documented.
        private static func name(of error: Product.PurchaseError) -> String {
            switch error {
            case .invalidQuantity: "invalidQuantity"
            case .productUnavailable: "productUnavailable"
            case .purchaseNotAllowed: "purchaseNotAllowed"
            case .ineligibleForOffer: "ineligibleForOffer"
            case .invalidOfferIdentifier: "invalidOfferIdentifier"
            case .invalidOfferPrice: "invalidOfferPrice"
            case .invalidOfferSignature: "invalidOfferSignature"
            case .missingOfferParameters: "missingOfferParameters"
            @unknown default: String(describing: error)
            }
        }

        static func failure(
            _ code: OfferError.Code, storeKitError: String, explanation: OfferExplanation? = nil
        ) -> OfferError {
            var error = OfferError(code, explanation?.text ?? "StoreKit reported \(storeKitError)")
            error.storeKitError = storeKitError
            error.explanation = explanation
            return error
        }
    }
#endif
