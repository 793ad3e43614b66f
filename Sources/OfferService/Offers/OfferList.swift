import OfferCore
import OfferHTTP

/// The offers of one request to `POST /v1/promotional-offers`: one, or a list.
struct OfferList {
    /// True if the request has the member `offers`. The answer then has this member too.
    let isList: Bool
    /// The offers in the order of the request. An unreadable offer in a list does not fail the others.
    let items: [Result<OfferRequest, Problem>]

    /// The permitted number of offers, enough for a paywall.
    static let counts = 1...20

    /// - Parameter members: the members of the request's body.
    init(_ members: JSONObject, _ principal: Principal) throws(Problem) {
        guard let value = members["offers"] else {
            isList = false
            items = [.success(try OfferRequest(members, spelling: .v1, user: principal.customer))]
            return
        }
        do { try MemberReader(members).refuseOthers(than: ["offers"]) } catch { throw Problem(error) }
        guard case .array(let values) = value else {
            throw .wrongType(field: "offers", expected: "an array", found: value.kind)
        }
        guard Self.counts.contains(values.count) else {
            throw .invalidField(FieldError(field: "offers", reason: .wrongCount(Self.counts)))
        }
        isList = true
        items = values.enumerated().map { index, value in
            Result { () throws(Problem) in
                guard case .object(let members) = value else {
                    throw .wrongType(field: "offers[\(index)]", expected: "an object", found: value.kind)
                }
                return try OfferRequest(members, spelling: .v1, user: principal.customer)
            }
        }
    }

    /// The offers that could be read.
    var requests: [OfferRequest] { items.compactMap { try? $0.get() } }

    /// Returns the response. For each offer of a list, in order, it contains the result or problem that a separate
    /// request would get.
    /// - Parameter proofs: the proofs to repeat in the answer.
    func response(_ results: [Result<DecidedOffer, Problem>], showing proofs: VerifiedProofs? = nil) -> HTTPResponse {
        var response = HTTPResponse(body: body(results, showing: proofs))
        // Without a signature, a repeated request must not repeat a temporary problem.
        response.isFinal =
            results.contains { if case .success = $0 { true } else { false } }
            || results.allSatisfy { if case .failure(let problem) = $0 { problem.code == .notEligible } else { false } }
        return response
    }

    private func body(_ results: [Result<DecidedOffer, Problem>], showing proofs: VerifiedProofs?) -> [UInt8] {
        var writer = JSONWriter()
        if isList {
            writer.objects("offers", results) { writer, result in
                switch result {
                case .success(let signed): signed.offer.writeV1(to: &writer)
                case .failure(let problem): writer.object("problem") { problem.writeItem(to: &$0) }
                }
            }
        } else {
            for case .success(let signed) in results { signed.offer.writeV1(to: &writer) }
        }
        proofs?.write(to: &writer)
        return writer.finish()
    }
}
