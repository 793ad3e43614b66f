/// The contract of the API as OpenAPI 3.1: `openapi.json` beside this file, which is built into the program.
enum OpenAPI {
    static let answer = Answer(body: PackageResources.openapi_json)
}
