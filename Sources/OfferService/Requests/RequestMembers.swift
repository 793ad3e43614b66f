package import OfferCore
package import OfferHTTP

/// The reader of a request's members, from the JSON body, or from the query of a GET request.
package enum RequestMembers {
    /// - Parameters:
    ///   - maximumCount: the maximum number of members in an object or elements in an array of the body.
    ///   - maximumTotal: the maximum number of values in the body.
    package static func read(
        _ request: HTTPRequest, maximumCount: Int = JSONReader.Limit.count, maximumTotal: Int = JSONReader.Limit.total
    ) throws(Problem) -> JSONObject {
        guard let query = request.query else {
            // A GET without a query or body gets an error about missing fields, not about a missing media type.
            return request.method == "GET" && request.body.isEmpty
                ? JSONObject() : try readBody(of: request, maximumCount, maximumTotal)
        }
        guard request.method == "GET" else { throw .queryNotExpected }
        guard request.body.isEmpty else { throw .queryAndBody }
        do { return try QueryReader.read(query) } catch { throw .unreadableQuery(error) }
    }

    private static func readBody(
        of request: HTTPRequest, _ maximumCount: Int, _ maximumTotal: Int
    ) throws(Problem) -> JSONObject {
        guard request.contentEncoding == nil else { throw .encodedContent }
        guard let contentType = request.contentType, MediaType.isJSON(contentType) else { throw .notJSONContent }
        let value: JSONValue
        do { value = try JSONReader.read(request.body, maximumCount: maximumCount, maximumTotal: maximumTotal) } catch {
            throw .unreadableJSON(error)
        }
        guard case .object(let members) = value else { throw .notAnObject }
        return members
    }
}
