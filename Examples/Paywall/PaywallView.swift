import OfferSignerClient
import SwiftUI

/// A paywall with the offers of the customer.
struct PaywallView: View {
    @State private var model: PaywallModel

    init(client: OfferClient, customer: OfferCustomer) {
        _model = State(wrappedValue: PaywallModel(client: client, customer: customer, placement: "paywall"))
    }

    var body: some View {
        OfferButtons(model: model).task { await model.load() }
    }
}

/// The offers as buttons.
private struct OfferButtons: View {
    let model: PaywallModel

    var body: some View {
        VStack {
            List(model.choices) { choice in
                Button(choice.offer.offerID) { Task { await model.buy(choice) } }.disabled(model.isBuying)
            }
            if let message = model.message { Text(message) }
            if model.isBuying { ProgressView() }
        }
    }
}

/// Makes an offer to a customer who is about to cancel.
struct CancelView: View {
    @State private var model: PaywallModel
    /// Opens the App Store's page, for example with `AppStore.showManageSubscriptions(in:)`.
    let cancel: @MainActor () -> Void

    init(client: OfferClient, customer: OfferCustomer, cancel: @escaping @MainActor () -> Void) {
        _model = State(wrappedValue: PaywallModel(client: client, customer: customer, placement: "cancel"))
        self.cancel = cancel
    }

    var body: some View {
        VStack {
            OfferButtons(model: model)
            Button("Cancel anyway") {
                Task {
                    await model.dismiss()
                    cancel()
                }
            }
        }.task { await model.load() }
    }
}
