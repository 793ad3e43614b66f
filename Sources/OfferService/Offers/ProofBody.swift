import OfferCore

/// The members of a request that may carry proofs, with the proofs apart.
struct ProofBody: Sendable {
    /// nil if the request carries none.
    let proofs: ProofRequest?
    /// Whether the answer repeats the verified proofs.
    let wantsVerifiedProofs: Bool
    /// All other members.
    let rest: JSONObject

    init(_ members: JSONObject) throws(Problem) {
        proofs = try members["proofs"].map { value throws(Problem) in try ProofRequest(value) }
        guard members["proofs"] != nil || members["verifiedProofs"] != nil else {
            (wantsVerifiedProofs, rest) = (false, members)
            return
        }
        do throws(MemberError) {
            wantsVerifiedProofs =
                members["verifiedProofs"] == nil ? false : try MemberReader(members).bool("verifiedProofs")
        } catch { throw Problem(error) }
        guard proofs != nil || !wantsVerifiedProofs else { throw .missingField("proofs") }
        rest = members.without(["proofs", "verifiedProofs"])
    }

    /// The app that the proofs must be of: that of the request, or of all offers in its list.
    func app() throws(Problem) -> BundleID {
        guard let items = try OfferList.items(in: rest) else { return try Self.app(of: rest) }
        let members = try items.enumerated().map { index, item throws(Problem) in
            try OfferList.members(of: item, at: index)
        }
        let apps = try Set(members.map { item throws(Problem) in try Self.app(of: item) })
        guard let app = apps.first, apps.count == 1 else { throw .proofsOfSeveralApps }
        return app
    }

    private static func app(of members: JSONObject) throws(Problem) -> BundleID {
        do { return try MemberReader(members).field("bundleID", BundleID.init) } catch { throw Problem(error) }
    }
}
