import COpenAPI
import OfferHTTP

/// `GET /openapi.json`: the API description in OpenAPI 3.1, embedded from `openapi.json` in this folder.
enum OpenAPI {
    static let answer = Endpoint.Answer(
        HTTPResponse(sharing: HTTPResponse.SharedBody((0..<offer_openapi_size()).map { offer_openapi_byte($0) })))
}
