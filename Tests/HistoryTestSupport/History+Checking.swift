import OfferCore
import OfferEligibility

extension History {
    /// How a state differs from what the history itself says at a time.
    func differences(_ state: SubscriberState, at now: Timestamp) throws -> [String] {
        let expected = lives.map { $0.expected(at: now) }
        let found = state.subscriptions.map(Expected.init)
        var differences = zip(expected, found).filter(!=).map { "expected \($0), found \($1) at \(now.milliseconds)" }
        if expected.count != found.count { differences.append("found \(found.count) subscriptions") }
        let redemptions = Set(state.redemptions.map(ExpectedRedemption.init))
        let expectedRedemptions = lives.reduce(into: Set()) { $0.formUnion($1.expectedRedemptions) }
        if redemptions != expectedRedemptions || redemptions.count != state.redemptions.count {
            differences.append("expected \(expectedRedemptions), found \(state.redemptions)")
        }
        if state.everSubscribed != true { differences.append("never subscribed") }
        let product = try ProductID(LifetimePurchase.product)
        let isOwned = lifetime.map { $0.refund == nil } ?? false
        let refunds = state.refunds.filter { $0.productID == product }.map(\.at)
        // Where the history is not whole, nobody knows that something was never bought.
        if (state.owns(product) ?? false) != isOwned || refunds != [lifetime?.refund].compactMap(\.self) {
            differences.append("expected that the lifetime purchase is owned: \(isOwned), found refunds \(refunds)")
        }
        let isPending = expected.contains(where: \.refundPending) || lifetime?.isRefundPending(at: now) == true
        if state.refundPending != isPending { differences.append("expected a pending refund: \(isPending)") }
        return differences
    }
}
