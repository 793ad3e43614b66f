import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility

/// Tells customers with a name what to do, for demonstrations: `POST /customers/NAME/STEP`. It is no part of Apple's API.
///
/// | step | body | effect |
/// |---|---|---|
/// | `subscribe` | `{"productID", "appAccountToken"}` | buys, as a new customer if no one has the name |
/// | `cancel` | | switches auto-renew off |
/// | `page` | | opens the page on which customers cancel: the answer is the body that the App Store posts |
/// | `state` | | none |
/// | `accept` | the service's answer to it | accepts the promotional offer in it |
/// | `redeem` | a signed offer of `/v1/promotional-offers` or `/v1/decisions` | buys with the offer |
///
/// Each answer but that of `page` is the customer's state.
struct CustomerDesk: Sendable {
    let world: StandInWorld
    let check: OfferCheck
    let now: @Sendable () -> Int64
    /// Called with each notification, which must not get lost.
    let onNotification: @Sendable (StandInWorld.Notification) -> Void

    /// The customer and the step of a request; nil if it is for Apple's API.
    static func names(of request: StandInRequest) -> (customer: String, step: String)? {
        let path = request.path
        guard request.method == "POST", path.count == 3, path[0] == "customers" else { return nil }
        return (path[1], path[2])
    }

    func answer(_ request: StandInRequest, _ customer: String, _ step: String) throws -> [UInt8] {
        let time = now()
        switch step {
        case "subscribe":
            let purchase = try Self.members(request.body)
            onNotification(
                world.subscribe(
                    customer, account: Self.text(purchase["appAccountToken"]),
                    to: Self.text(purchase["productID"]) ?? "", at: time))
        case "state": break
        case "cancel": onNotification(try world.setAutoRenew(false, of: customer, at: time))
        case "page":
            let known = try world.customer(named: customer, at: time)
            let view = StandInWorld.PageView(
                originalTransactionID: known.originalTransactionID, productID: known.productID,
                requestIdentifier: UUID().uuidString.lowercased())
            return Array(try world.retentionRequest(view, at: time).utf8)
        case "accept":
            guard RealtimeAnswer.isValid(request.body),
                case .object(let offer)? = try Self.members(request.body)["promotionalOffer"],
                case .object(let signature)? = offer["promotionalOfferSignatureV1"]
            else { throw StandInWorld.Refusal(4_000_000, "This answer has no promotional offer with a V1 signature.") }
            try redeem(.init(retention: signature), by: customer, at: time)
        case "redeem": try redeem(.init(Self.members(request.body)), by: customer, at: time)
        default: throw StandInWorld.Refusal(4_040_000, "There is no such step.")
        }
        return try state(of: customer, at: time)
    }

    private func redeem(_ offer: OfferCheck.Offer, by customer: String, at time: Int64) throws {
        try check.check(offer, of: world.customer(named: customer, at: time).transactionIDs, at: time)
        onNotification(try world.redeem(offer.offerID, of: offer.productID, by: customer, at: time))
    }

    private func state(of customer: String, at time: Int64) throws -> [UInt8] {
        let known = try world.customer(named: customer, at: time)
        var writer = JSONWriter()
        writer.member("originalTransactionId", known.originalTransactionID)
        writer.member("appTransactionId", known.appTransactionID)
        writer.member("productId", known.productID)
        if let account = known.account { writer.member("appAccountToken", account) }
        writer.member("status", Int64(known.status))
        return writer.finish()
    }

    static func members(_ body: [UInt8]) throws -> JSONObject {
        guard case .object(let members)? = try? JSONReader.read(body) else {
            throw StandInWorld.Refusal(4_000_000, "Bad request.")
        }
        return members
    }

    static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let bytes)?, .number(let bytes)?: String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }
}
