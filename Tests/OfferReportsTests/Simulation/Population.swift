import Foundation
import OfferCore
import OfferReports
import TestSupport

/// Customers whose hazards are known, so the true values of every number in a report are known too.
///
/// Everyone has access at the exposure. A redeemer of the offer keeps it until the redemption, within three days, and has
/// the hazard `redeemed` from then on. Everyone else has the hazard `usual` from the exposure. Customers pay every 30 days
/// while they have access; redeemers pay half for the first 90 days.
struct Population {
    var customers = 2000
    /// The share of customers to whom the offer is given.
    var share = 0.9
    /// The share of them who redeem it.
    var redeeming = 0.3
    /// Hazards per day.
    var usual = 0.012
    var redeemed = 0.004
    /// The share of ends that are cancellations. The others are failed payments.
    var cancelling = 0.7
    var erased = 0.02
    /// Customers are exposed evenly over so many days before the report.
    var days = 730.0
    /// The share of held-out customers whose exposure is lost.
    var lost = 0.0

    static let start = Timestamp(milliseconds: 1_700_000_000_000)
    static let price: Int64 = 9990

    var end: Timestamp { Self.start + .milliseconds(Int64(days * 86_400_000)) }

    var question: ReportQuestion {
        var question = ReportQuestion(productID: "pro.monthly", offerID: "winback", sample: "spring", asOf: end)
        question.plannedShare = share
        question.tracked = ["episodes"]
        return question
    }

    func draw(seed: UInt64) -> [ExposedCustomer] {
        var random = SplitMix64(seed: seed)
        return (0..<customers).compactMap { _ in customer(&random) }
    }

    private func customer(_ random: inout SplitMix64) -> ExposedCustomer? {
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        func lifetime(_ hazard: Double) -> Double { -log(1 - Double.random(in: 0..<1, using: &random)) / hazard }
        let arm: ExposedCustomer.Arm = chance(share) ? .offered : .heldOut
        let entry = Double.random(in: 0..<days, using: &random)
        func time(_ day: Double) -> Timestamp { Self.start + .milliseconds(Int64((entry + day) * 86_400_000)) }
        let redemption: Double? =
            arm == .offered && chance(redeeming) ? Double.random(in: 0..<3, using: &random) : nil
        let ended = redemption.map { $0 + lifetime(redeemed) } ?? lifetime(usual)
        let cause: EndCause = chance(cancelling) ? .cancelled : .billing
        let isErased = chance(erased)
        if arm == .heldOut, chance(lost) { return nil }
        var customer = ExposedCustomer(arm: arm, exposedAt: time(0))
        customer.channel = "decision"
        customer.isErased = isErased
        guard !isErased else { return customer }
        customer.signedAt = arm == .offered ? [time(0)] : []
        customer.redeemedAt = redemption.map(time)
        customer.access = [AccessSpan(start: time(-10), end: time(ended), cause: cause)]
        customer.payments = stride(from: 0.0, to: min(ended, days), by: 30).map { day in
            let isHalf = redemption != nil && day < 90
            return Payment(at: time(day), currency: "USD", amount: isHalf ? Self.price / 2 : Self.price)
        }
        // An episode each day with access, up to 60.
        let watched = (1...60).filter { Double($0) < ended && Double($0) + entry < days }
        customer.facts["episodes"] = FactHistory(
            steps: watched.map { FactHistory.Step(at: time(Double($0)), value: .number(Int64($0) * 1000)) })
        return customer
    }

    // MARK: The truth

    /// The share with access so many days after exposure, at least 3.
    func access(_ arm: ExposedCustomer.Arm, day: Double) -> Double {
        let others = exp(-usual * day)
        guard arm == .offered else { return others }
        // The mean over redemptions at every time within three days.
        let redeemers = (exp(-redeemed * (day - 3)) - exp(-redeemed * day)) / (3 * redeemed)
        return redeeming * redeemers + (1 - redeeming) * others
    }

    /// The mean paid per exposed customer up to a day, in thousandths.
    func paid(_ arm: ExposedCustomer.Arm, day: Double) -> Double {
        stride(from: 0.0, through: day, by: 30).reduce(0) { sum, day in
            let others = exp(-usual * day)
            guard arm == .offered else { return sum + Double(Self.price) * others }
            let redeemers =
                day < 3 ? 1 : (exp(-redeemed * (day - 3)) - exp(-redeemed * day)) / (3 * redeemed)
            let price = Double(day < 90 ? Self.price / 2 : Self.price)
            return sum + redeeming * price * redeemers + (1 - redeeming) * Double(Self.price) * others
        }
    }

    func retention(day: Double) -> Double { exp(-redeemed * day) }

    func cancelled(day: Double) -> Double { cancelling * (1 - exp(-redeemed * day)) }
}
