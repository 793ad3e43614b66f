import Foundation

/// The routes of the App Store Connect API that read subscriptions, answered in the form of JSON:API.
struct ConnectAnswers {
    /// How the answers differ from the plainest ones.
    struct Form {
        var pageSize: Int
        /// True to leave out relationships, as sparse answers do.
        var isSparse: Bool
        /// The entries that are added to each list.
        var oddEntries: [Any]
        /// The beginning of each link to a next page.
        var linkBase: String
        var change: Change?
    }

    typealias Change = @Sendable (_ path: String, _ document: inout [String: Any]) -> Void

    let catalogue: ConnectCatalogue
    let form: Form

    typealias JSON = [String: Any]

    /// - Returns: nil for an unknown path.
    func answer(_ request: StandInRequest) -> Data? {
        let path = Array(request.path.dropFirst())
        guard request.path.first == "v1", let list = list(path, request) else { return nil }
        var document: JSON = [:]
        let limit = min(request.value("limit").flatMap(Int.init) ?? 50, form.pageSize)
        let start =
            request.value("cursor").flatMap { Data(base64Encoded: $0) }.flatMap { String(decoding: $0, as: UTF8.self) }
            .flatMap(Int.init) ?? 0
        let entries = list.entries.dropFirst(start).prefix(limit)
        document["data"] = entries.map(\.resource) + form.oddEntries
        let included = entries.flatMap(\.included)
        if !included.isEmpty { document["included"] = included }
        var links: JSON = ["self": form.linkBase + "/" + request.path.joined(separator: "/")]
        if start + limit < list.entries.count {
            let cursor = Data("\(start + limit)".utf8).base64EncodedString()
            let allowed = CharacterSet.alphanumerics
            links["next"] =
                form.linkBase + "/" + request.path.joined(separator: "/") + "?cursor="
                + (cursor.addingPercentEncoding(withAllowedCharacters: allowed) ?? "") + "&limit=\(limit)"
        }
        document["links"] = links
        document["meta"] = ["paging": ["total": list.entries.count, "limit": limit]]
        form.change?(path.joined(separator: "/"), &document)
        return try? JSONSerialization.data(withJSONObject: document, options: [.sortedKeys])
    }

    private struct List {
        var entries: [(resource: JSON, included: [JSON])]
    }

    private func list(_ path: [String], _ request: StandInRequest) -> List? {
        switch (path.first, path.count) {
        case ("apps", 1):
            let filter = request.value("filter%5BbundleId%5D") ?? request.value("filter[bundleId]") ?? ""
            // The real filter also finds longer bundle IDs.
            let others = resource("apps", "1", ["bundleId": catalogue.bundleID + ".other", "primaryLocale": "en-US"])
            guard catalogue.bundleID.hasPrefix(filter) else { return List(entries: []) }
            return List(entries: [(others, []), (app, [])])
        case ("apps", 3) where path[1] == catalogue.appAppleID && path[2] == "subscriptionGroups":
            return List(
                entries: catalogue.groups.map {
                    (resource("subscriptionGroups", $0.id, ["referenceName": $0.name]), [])
                })
        case ("subscriptionGroups", 3):
            return catalogue.groups.first { $0.id == path[1] }.map { group in
                List(entries: group.products.map { subscription($0, including: request.value("include") != nil) })
            }
        case ("subscriptions", 3):
            guard let product = product(path[1]) else { return nil }
            switch path[2] {
            case "promotionalOffers": return List(entries: product.offers.map { (offer($0, of: product), []) })
            case "winBackOffers": return List(entries: winBackOffers(product).map { ($0, []) })
            case "planAvailabilities":
                return List(
                    entries: product.plans.map {
                        (resource("subscriptionPlanAvailabilities", "a-\($0)", ["planType": $0]), [])
                    })
            case "prices": return prices(product.prices, "subscriptionPrices", request)
            default: return nil
            }
        case ("subscriptionPromotionalOffers", 3) where path[2] == "prices":
            for product in catalogue.groups.flatMap(\.products) {
                for offer in product.offers where Self.id(offer, product) == path[1] {
                    return prices(offer.prices, "subscriptionPromotionalOfferPrices", request)
                }
            }
            return nil
        default: return nil
        }
    }

    // MARK: Resources

    private var app: JSON {
        let url: Any = catalogue.notificationURL ?? NSNull()
        return resource(
            "apps", catalogue.appAppleID,
            [
                "bundleId": catalogue.bundleID, "name": "Example", "primaryLocale": "en-US",
                "subscriptionStatusUrl": url, "subscriptionStatusUrlVersion": catalogue.notificationVersion,
                "subscriptionStatusUrlForSandbox": url,
                "subscriptionStatusUrlVersionForSandbox": catalogue.notificationVersion,
            ])
    }

    private func resource(_ type: String, _ id: String, _ attributes: JSON, _ relationships: JSON = [:]) -> JSON {
        var resource: JSON = [
            "type": type, "id": id, "attributes": attributes, "links": ["self": "\(form.linkBase)/v1/\(type)/\(id)"],
        ]
        if !relationships.isEmpty, !form.isSparse { resource["relationships"] = relationships }
        return resource
    }

    private func product(_ id: String) -> ConnectCatalogue.Product? {
        catalogue.groups.flatMap(\.products).first { Self.id($0) == id }
    }

    private static func id(_ product: ConnectCatalogue.Product) -> String { "s-" + product.productID }

    private static func id(_ offer: ConnectCatalogue.Offer, _ product: ConnectCatalogue.Product) -> String {
        "o-\(product.productID)-\(offer.code)"
    }

    private func subscription(
        _ product: ConnectCatalogue.Product, including isIncluding: Bool
    ) -> (resource: JSON, included: [JSON]) {
        let localizations = product.names.sorted { $0.key < $1.key }.map { locale, name in
            resource("subscriptionLocalizations", "l-\(product.productID)-\(locale)", ["locale": locale, "name": name])
        }
        let introductory = (0..<product.introductoryOffers).map { place in
            resource("subscriptionIntroductoryOffers", "i-\(product.productID)-\(place)", ["offerMode": "FREE_TRIAL"])
        }
        let parts = [
            ("subscriptionLocalizations", localizations),
            ("promotionalOffers", product.offers.map { offer($0, of: product) }),
            ("winBackOffers", winBackOffers(product)), ("introductoryOffers", introductory),
        ]
        var relationships: JSON = [:]
        for (name, resources) in parts {
            relationships[name] = isIncluding ? Self.relationship(resources) : ["links": [:] as JSON]
        }
        let subscription = resource(
            "subscriptions", Self.id(product),
            [
                "name": "reference name", "productId": product.productID, "state": product.state,
                "subscriptionPeriod": product.period, "groupLevel": product.level,
                "familySharable": product.isFamilySharable,
            ], relationships)
        return (subscription, isIncluding && !form.isSparse ? parts.flatMap(\.1) : [])
    }

    private static func relationship(_ resources: [JSON]) -> JSON {
        [
            "data": resources.map { ["type": $0["type"] ?? "", "id": $0["id"] ?? ""] },
            "meta": ["paging": ["total": resources.count, "limit": 50]],
        ]
    }

    private func offer(_ offer: ConnectCatalogue.Offer, of product: ConnectCatalogue.Product) -> JSON {
        resource(
            "subscriptionPromotionalOffers", Self.id(offer, product),
            [
                "offerCode": offer.code, "name": "Offer \(offer.code)", "offerMode": offer.mode,
                "duration": offer.duration,
                "numberOfPeriods": offer.periods, "targetSubscriptionPlanType": offer.plan ?? NSNull(),
            ])
    }

    private func winBackOffers(_ product: ConnectCatalogue.Product) -> [JSON] {
        product.winBackOffers.map { resource("winBackOffers", "w-\($0)", ["offerId": $0]) }
    }

    private func prices(_ prices: [ConnectCatalogue.Price], _ type: String, _ request: StandInRequest) -> List {
        List(
            entries: prices.enumerated().map { place, price in
                let (point, territory) = ("p-\(price.territory)-\(price.amount)", price.territory)
                let currency = ["USA": "USD", "GBR": "GBP", "JPN": "JPY"][territory] ?? "EUR"
                let entry: JSON = [
                    "type": type, "id": "\(type)-\(place)",
                    "attributes": [
                        "startDate": price.startDate ?? NSNull(), "preserved": price.isPreserved,
                        "planType": price.plan ?? NSNull(),
                    ] as JSON,
                    "relationships": [
                        "territory": ["data": ["type": "territories", "id": territory]],
                        "subscriptionPricePoint": ["data": ["type": "subscriptionPricePoints", "id": point]],
                    ],
                ]
                return (
                    entry,
                    [
                        ["type": "territories", "id": territory, "attributes": ["currency": currency]],
                        [
                            "type": "subscriptionPricePoints", "id": point,
                            "attributes": ["customerPrice": price.amount],
                        ],
                    ]
                )
            })
    }
}
