import OfferHTTP

/// `GET /openapi.json`: the API description in OpenAPI 3.1, embedded from `openapi.json` in this folder.
enum OpenAPI {
    static let answer = Endpoint.Answer(
        HTTPResponse(sharing: HTTPResponse.SharedBody(PackageResources.openapi_json)))
}
