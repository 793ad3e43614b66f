import OfferCore
import OfferEligibility

/// The body of `POST /v1/purchases`, without the proofs.
struct PurchasesRequest {
    let bundleID: BundleID
    let customer: Customer
    /// nil if the request names no environment. The proofs name it anyway.
    let environment: AppStoreEnvironment?

    /// - Parameter user: the signed-in user, who is the only permitted customer and need not be named; nil to permit
    ///   any customer.
    init(_ members: JSONObject, user: Customer?) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "applicationUsername", "appAccountToken", "environment"])
            bundleID = try reader.field("bundleID", BundleID.init)
            customer = if let user, !reader.namesCustomer { user } else { try reader.customer() }
            environment = try reader.environment()
        } catch { throw Problem(error) }
        if let user, customer != user { throw .customerNotYours }
    }
}
