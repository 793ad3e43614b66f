import OfferCore

/// A list of offers in one request to `POST /v1/promotional-offers`, and their results.
enum OfferList {
    /// The permitted number of offers, enough for a paywall.
    static let counts = 1...20

    /// - Parameter members: the members of the request's body.
    /// - Returns: nil if the body requests a single offer.
    static func items(in members: JSONObject) throws(Problem) -> [JSONValue]? {
        guard let value = members["offers"] else { return nil }
        do { try MemberReader(members).refuseOthers(than: ["offers"]) } catch { throw Problem(error) }
        guard case .array(let items) = value else {
            throw .wrongType(field: "offers", expected: "an array", found: value.kind)
        }
        guard counts.contains(items.count) else {
            throw .invalidField(FieldError(field: "offers", reason: .wrongCount(counts)))
        }
        return items
    }

    /// Returns the members of one item.
    /// - Parameter index: the position of the item, counted from 0.
    static func members(of item: JSONValue, at index: Int) throws(Problem) -> JSONObject {
        guard case .object(let members) = item else {
            throw .wrongType(field: "offers[\(index)]", expected: "an object", found: item.kind)
        }
        return members
    }

    /// Writes, for each offer in order, the result that a separate request would get, or the problem.
    static func write(_ outcomes: [Result<SignedOffer, Problem>], to writer: inout JSONWriter) {
        writer.objects("offers", outcomes) { writer, outcome in
            switch outcome {
            case .success(let offer): offer.writeV1(to: &writer)
            case .failure(let problem): writer.object("problem") { problem.writeItem(to: &$0) }
            }
        }
    }
}
