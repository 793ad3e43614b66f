/// What a request is for, as far as its path says.
package enum Route: String, CaseIterable, Sendable {
    case offer = "/offer"
    case promotionalOffers = "/v1/promotional-offers"
    case introductoryOffers = "/v1/introductory-offers"
    case advancedCommerce = "/v1/advanced-commerce"
    case explanations = "/v1/explanations"
    case live = "/health/live"
    case ready = "/health/ready"
    case metrics = "/metrics"
    case openAPI = "/openapi.json"
    /// There is nothing at such a path.
    case other
    /// What came could not be read as a request, and has no path.
    case none

    init(path: String) {
        self = path.hasPrefix("/") ? Route(rawValue: path) ?? .other : .other
    }
}
