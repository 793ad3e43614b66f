#if canImport(StoreKit)
    import Foundation
    public import StoreKit

    /// What an `SKPaymentTransaction` says of a payment with an offer, taken out of the class so that it can cross between actors.
    public struct OfferPaymentResult: Sendable {
        let state: SKPaymentTransactionState
        let errorCode: SKError.Code?
        let errorText: String?

        public init(_ transaction: SKPaymentTransaction) {
            state = transaction.transactionState
            errorCode = (transaction.error as? SKError)?.code
            errorText = transaction.error.map { OfferClient.name(of: $0) }
        }
    }

    extension OfferClient {
        /// Signs the offer for StoreKit 1 and adds the payment to the queue. Call it at the tap.
        ///
        /// The app's transaction observer gets the result, and passes it to ``finish(_:with:)``.
        /// - Returns: what was signed. Keep it until the observer has the result.
        @MainActor public func pay(
            for product: SKProduct, with offer: Offer, queue: SKPaymentQueue
        ) async throws(OfferError) -> SignedOffer {
            guard product.productIdentifier == offer.productID else {
                throw OfferError(
                    .anotherProduct, "the offer is for \(offer.productID), not for \(product.productIdentifier)")
            }
            // StoreKit 1 cannot name a plan.
            guard offer.billingPlan ?? .billedUpFront == .billedUpFront else {
                throw OfferError(.billingPlanUnavailable, "StoreKit 1 cannot buy with a plan")
            }
            var budget = FetchBudget()
            let signed = try await sign(offer, form: .original, proofs: .none, &budget)
            guard let signature = signed.signature else {
                throw OfferError(.noUsableSignature, "StoreKit 1 needs the original form of the signature")
            }
            let payment = SKMutablePayment(product: product)
            if signed.customer != .anonymous {
                payment.applicationUsername = signed.customer.appAccountToken ?? signed.customer.applicationUsername
            }
            payment.paymentDiscount = SKPaymentDiscount(
                identifier: offer.offerID, keyIdentifier: signature.keyID, nonce: signature.nonceUUID,
                signature: signature.base64, timestamp: NSNumber(value: signature.timestamp))
            queue.add(payment)
            return signed
        }

        /// Checks what became of a payment, and reports it. It does not finish the transaction: the app does.
        /// - Returns: how the purchase ended; nil while it is in progress.
        /// - Throws: ``OfferError/Code/signatureRejected`` or ``OfferError/Code/purchaseFailed``.
        public nonisolated func finish(
            _ signed: SignedOffer, with result: OfferPaymentResult
        ) async throws(OfferError) -> PurchaseStatus? {
            switch result.state {
            case .purchased, .restored:
                // Only StoreKit 2 says whether the offer applies.
                let latest = await Transaction.latest(for: signed.offer.productID)
                guard case .verified(let transaction)? = latest else {
                    await note(.failed, of: signed, original: true, error: PurchaseStatus.unverified.rawValue)
                    return .unverified
                }
                guard await Self.place(of: signed.offer.offerID, after: transaction, of: nil) != nil else {
                    let status = PurchaseStatus.signedButNotApplied
                    await note(.failed, of: signed, original: true, error: status.rawValue)
                    return status
                }
                await note(.purchased, of: signed, original: true)
                return .purchased
            case .deferred:
                await note(.pending, of: signed, original: true)
                return .pending
            case .failed:
                if result.errorCode == .paymentCancelled {
                    await note(.failed, of: signed, original: true, error: Self.cancelled)
                    return .cancelled
                }
                let name = result.errorText ?? "unknown"
                await note(.failed, of: signed, original: true, error: name)
                guard result.errorCode == .invalidSignature else {
                    throw Self.failure(.purchaseFailed, storeKitError: name)
                }
                let explanation = try? await explain(signed, original: true, storeKitError: name)
                throw Self.failure(.signatureRejected, storeKitError: name, explanation: explanation)
            case .purchasing: return nil
            @unknown default: return nil
            }
        }
    }
#endif
