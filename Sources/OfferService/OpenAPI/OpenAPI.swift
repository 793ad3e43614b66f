import OfferHTTP

/// `GET /openapi.json`: the contract of the API as OpenAPI 3.1, embedded from the file beside this one.
enum OpenAPI {
    static let answer = Endpoint.Answer(HTTPResponse(body: PackageResources.openapi_json))
}
