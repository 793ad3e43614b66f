package import OfferCore

/// Reads the members of a request: from its JSON body, or from its query where the method is GET.
package enum RequestMembers {
    package static func read(_ request: IncomingRequest) throws(Problem) -> JSONObject {
        guard let query = request.query else {
            // A GET without either lacks its fields, not its media type.
            return request.method == "GET" && request.body.isEmpty ? JSONObject() : try readBody(of: request)
        }
        guard request.method == "GET" else { throw .queryNotExpected }
        guard request.body.isEmpty else { throw .queryAndBody }
        return try QueryReader.read(query)
    }

    private static func readBody(of request: IncomingRequest) throws(Problem) -> JSONObject {
        guard request.contentEncoding == nil else { throw .encodedContent }
        guard let contentType = request.contentType, MediaType.isJSON(contentType) else { throw .notJSONContent }
        let value: JSONValue
        do { value = try JSONReader.read(request.body) } catch { throw .unreadableJSON(error) }
        guard case .object(let members) = value else { throw .notAnObject }
        return members
    }
}
