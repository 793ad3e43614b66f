import OfferCore
import OfferHTTP
import OfferService

extension FuzzTarget {
    /// The body of a request to `POST /v1/decisions`, with proofs. The input is read for a caller and for a user.
    static let decisionRequest = FuzzTarget("decision-request") { input throws(BrokenPromise) in
        let request = HTTPRequest(method: "POST", target: "/", contentType: "application/json", body: input)
        guard let members = try? RequestMembers.read(request), let body = try? ProofBody(members) else { return }
        try promise(
            "proofs are apart from the rest", body.rest["proofs"] == nil && body.rest["verifiedProofs"] == nil)
        guard let decision = try? DecisionRequest(body.rest, user: nil) else { return }
        let names = Set(body.rest.members.map { String(decoding: $0.name, as: UTF8.self) })
        try promise("a misspelt member is refused", names.isSubset(of: Self.names))
        try promise(
            "products are bounded", decision.productIDs.map { DecisionRequest.counts.contains($0.count) } ?? true)
        let same = try? DecisionRequest(body.rest, user: decision.customer)
        try promise("a user may name themselves", same?.customer == decision.customer)
        var other = SystemRandomNumberGenerator()
        guard let user = try? Customer(applicationUsername: Array("\(Nonce(using: &other))".utf8)) else { return }
        try promise("a user may name nobody else", (try? DecisionRequest(body.rest, user: user)) == nil)
    }

    private static let names: Set<String> = [
        "bundleID", "applicationUsername", "appAccountToken", "transactionID", "environment", "placement", "link",
        "productIDs", "sign",
    ]
}
