package import OfferCore

/// The members of a request that may contain proofs, separated into the proofs and the rest.
package struct ProofBody: Sendable {
    /// nil if the request contains no proofs.
    let proofs: ProofRequest?
    /// True if the answer repeats the verified proofs.
    package let wantsVerifiedProofs: Bool
    /// All other members.
    package let rest: JSONObject

    package init(_ members: JSONObject) throws(Problem) {
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
}
