import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore

extension StoreService {
    /// Adds a subscription of account 1 whose month began on day 0.
    func addSubscriber(
        _ original: String = "1000", account: UInt64? = 1, autoRenew: Bool = true, in app: AppScope = Sample.production,
        signed: Double = 1, _ change: (inout Purchase) -> Void = { _ in }
    ) async throws {
        try await store.merge(
            Self.subscriber(original, account: account, autoRenew: autoRenew, signed: signed, change), in: app)
    }

    static func subscriber(
        _ original: String = "1000", account: UInt64? = 1, autoRenew: Bool = true, signed: Double = 1,
        _ change: (inout Purchase) -> Void = { _ in }
    ) -> [SubscriberFact] {
        [
            Sample.transaction(original, of: original) {
                $0.appAccountToken = account.map(Sample.token)
                change(&$0)
            },
            Sample.renewal(of: original, signed: signed) { renewal in
                renewal = Renewal(productID: renewal.productID, autoRenewStatus: autoRenew ? .on : .off)
                renewal.autoRenewProductID = renewal.productID
                renewal.appAccountToken = account.map(Sample.token)
            },
        ]
    }

    /// The member that names account 1, or another one.
    static func token(_ number: UInt64 = 1) -> String { #""appAccountToken":"\#(Sample.token(number).description)""# }

    func decide(_ members: String = token(), token: String? = nil) async throws -> Decision {
        Decision(await post("/v1/decisions", members, token: token))
    }

    /// An answer, as a test reads it.
    struct Decision {
        let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }

        var json: [String: Any] { response.json }
        var offers: [[String: Any]] { json["offers"] as? [[String: Any]] ?? [] }
        /// The IDs of the eligible offers, the best first.
        var eligible: [String] { offers.compactMap { $0["offerID"] as? String } }
        /// The IDs of the offers that are signed.
        var signed: [String] {
            offers.filter { $0["signature"] != nil || $0["compactJWS"] != nil }.compactMap { $0["offerID"] as? String }
        }
        /// The codes by offer, without repeats, in the order of the alphabet.
        var refused: [String: [String]] {
            let refused = json["refused"] as? [[String: Any]] ?? []
            return Dictionary(
                uniqueKeysWithValues: refused.map { offer in
                    let reasons = offer["reasons"] as? [[String: Any]] ?? []
                    let codes = reasons.compactMap { $0["code"] as? String }
                    return (offer["offerID"] as? String ?? "", Set(codes).sorted())
                })
        }
    }
}
