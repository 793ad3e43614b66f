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
    /// - Returns: nil if no offer of the list names an app. Then each of them is refused.
    func app() throws(Problem) -> BundleID? {
        guard let items = try OfferList.items(in: rest) else { return try Self.app(of: rest) }
        let apps = Set(
            items.enumerated().compactMap { index, item in
                (try? OfferList.members(of: item, at: index)).flatMap { try? Self.app(of: $0) }
            })
        guard apps.count <= 1 else { throw .proofsOfSeveralApps }
        return apps.first
    }

    private static func app(of members: JSONObject) throws(Problem) -> BundleID {
        do { return try MemberReader(members).field("bundleID", BundleID.init) } catch { throw Problem(error) }
    }
}
