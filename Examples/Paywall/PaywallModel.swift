import Foundation
import Observation
import OfferSignerClient
import StoreKit

/// What the paywall shows, and what it does at a tap.
@MainActor @Observable final class PaywallModel {
    /// An offer with the product that it is for.
    struct Choice: Identifiable {
        let offer: Offer
        let product: Product
        var id: Offer.ID { offer.id }
    }

    private(set) var choices: [Choice] = []
    private(set) var isBuying = false
    /// A sentence for the customer.
    private(set) var message: String?

    private let client: OfferClient
    private let customer: OfferCustomer
    private let placement: String

    init(client: OfferClient, customer: OfferCustomer, placement: String) {
        self.client = client
        self.customer = customer
        self.placement = placement
    }

    /// Lists the offers. Nothing is signed yet, so it costs the customer nothing.
    func load() async {
        do {
            // Does nothing if this customer is signed in already.
            await client.signIn(customer)
            let list = try await client.offers(at: placement, proofs: .gathered())
            let products = try await Product.products(for: Set(list.offers.map(\.productID)))
            choices = list.offers.compactMap { offer in
                products.first { $0.id == offer.productID }.map { Choice(offer: offer, product: $0) }
            }
            await client.report(.shown, of: choices.map(\.offer))
        } catch {
            // Without offers, the paywall shows the regular price.
            choices = []
        }
    }

    func buy(_ choice: Choice) async {
        isBuying = true
        defer { isBuying = false }
        do {
            let purchase = try await client.purchase(choice.product, with: choice.offer)
            switch purchase.status {
            case .purchased:
                message = purchase.startsNextPeriod ? "Your discount starts with the next period." : "Thank you."
            case .pending: message = "Waiting for approval."
            case .signedButNotApplied: message = "The discount was not applied. Please contact support."
            default: message = nil
            }
            if case .verified(let transaction)? = purchase.transaction {
                // Unlock what the customer bought, then finish.
                await transaction.finish()
            }
        } catch {
            message = sentence(for: error)
        }
    }

    func dismiss() async { await client.report(.dismissed, of: choices.map(\.offer)) }

    private func sentence(for error: OfferError) -> String {
        switch error.code {
        case .noAnswer, .overloaded, .rateLimited, .storeUnavailable: "Please try again in a moment."
        case .notEligible: "This offer is not available any more."
        default: "The purchase did not work. You have not been charged."
        }
    }
}
