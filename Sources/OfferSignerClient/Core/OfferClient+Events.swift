import Foundation

extension OfferClient {
    /// The greatest number of events that wait for the service, and of one batch.
    private static let mostEvents = 100

    /// Reports what became of listed offers, usually ``OfferEvent/shown`` and ``OfferEvent/dismissed``. The StoreKit layer
    /// reports purchases itself.
    ///
    /// It never throws: reports must not disturb the app. If no answer arrives, the next report sends the events again.
    public func report(_ event: OfferEvent, of offers: [Offer]) async {
        guard let signedIn else { return }
        let at = clock.now(uptime: runtime.uptime())
        await deliver(
            offers.filter { $0.session == signedIn.session }
                .compactMap { .of($0, signedIn.customer, event, at: at) })
    }

    /// Reports what became of a signature, in the background: a customer who has paid must not wait for a report.
    /// - Parameter original: whether StoreKit got the original form.
    func note(_ event: OfferEvent, of signed: SignedOffer, original: Bool, error: String? = nil) {
        guard signed.offer.session == signedIn?.session,
            let nonce = original ? signed.signature?.nonce : signed.nonce
        else { return }
        let reported = ReportedEvent(
            event: event.rawValue, nonce: nonce, at: clock.now(uptime: runtime.uptime()),
            error: error.map(ReportedEvent.short))
        let earlier = reporting
        reporting = Task {
            await earlier?.value
            // After a sign-out, the event names a customer who is forgotten.
            if signed.offer.session == signedIn?.session { await deliver([reported]) }
        }
    }

    /// Waits until the reports of purchases so far have been sent, or have failed.
    public func finishReporting() async { await reporting?.value }

    /// Sends the new events and those that wait. While they are under way, they are not in `events`, so none is sent twice.
    private func deliver(_ new: [ReportedEvent]) async {
        let batch = Array((events + new).suffix(Self.mostEvents))
        guard !api.isSample, !batch.isEmpty, let session = signedIn?.session else { return }
        events = []
        let body = EventsRequest(bundleID: bundleID, environment: environment, events: batch)
        var budget = FetchBudget()
        do {
            _ = try await exchange(
                KeyedRequest(key: runtime.makeKey(), path: "v1/offers/events", body: body.json), &budget)
        } catch {
            // A refused batch would be refused again. Without an answer, or with 429 or 503, it waits for the next report.
            let isRefused = error.status.map { $0 < 500 && $0 != 429 } ?? false
            guard !isRefused, signedIn?.session == session else { return }
            events = Array((batch + events).suffix(Self.mostEvents))
        }
    }
}
