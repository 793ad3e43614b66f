import OfferConfiguration
import OfferConsole
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import SubscriberStore

/// The public endpoints of links: the association file that makes them open the app, and the page for other browsers.
///
/// They read only the configuration. A visit changes nothing, because programs that scan mail open every link.
struct LinkPages: Sendable {
    /// nil if there are no personal links.
    let key: LinkKey?
    /// The scheme and host of links; nil if they are unknown.
    let origin: String?
    let visits: LinkVisitCounter
    let metrics: ServiceMetrics
    let now: @Sendable () -> Timestamp
    private let contentPolicy: String

    init(
        key: LinkKey?, origin: String?, visits: LinkVisitCounter, metrics: ServiceMetrics,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.origin = origin
        self.visits = visits
        self.metrics = metrics
        self.now = now
        // Without the hash, the page has no style, but all of its words.
        let hash = (try? SHA256.hash(LinkPage.styleText)).map { String(decoding: Base64.text(of: $0), as: UTF8.self) }
        contentPolicy =
            "default-src 'none'; style-src \(hash.map { "'sha256-\($0)'" } ?? "'none'"); base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
    }

    /// The seconds for which caches may keep the association file. Apple's own cache keeps it longer.
    private static let associationLifetime = 3600

    /// `GET /.well-known/apple-app-site-association`: the apps that open links of this host.
    func association(_ request: HTTPRequest, _ admission: Admission) -> Endpoint.Answer {
        metrics.linkPage(.association)
        let apps = (admission.policy.catalogue?.apps ?? [:]).compactMap { id, app in
            app.rules.links.map { "\($0.teamID).\(id.text)" }
        }.sorted()
        var writer = JSONWriter()
        writer.object("applinks") { writer in
            guard !apps.isEmpty else { return }
            writer.objects("details", [apps]) { writer, apps in
                writer.member("appIDs", apps)
                writer.objects("components", [LinkText.path + "*"]) { $0.member("/", $1) }
            }
        }
        var response = HTTPResponse(body: writer.finish())
        response.lifetime = Self.associationLifetime
        response.isForEverybody = true
        return Endpoint.Answer(response)
    }

    /// `GET /o/NAME` and `GET /o/~TOKEN`.
    func page(_ request: HTTPRequest, _ admission: Admission) -> Endpoint.Answer {
        let (page, status, kind) = page(of: request.path, admission.policy, isCounted: request.method == "GET")
        metrics.linkPage(kind)
        var response = HTTPResponse(status: status, mediaType: .html, body: page.html.utf8)
        response.browserHeaders = [
            HTTPResponse.Header("Content-Security-Policy", contentPolicy),
            HTTPResponse.Header("X-Content-Type-Options", "nosniff"),
            HTTPResponse.Header("X-Robots-Tag", "noindex"),
            // The address of a personal link is a secret of its customer.
            HTTPResponse.Header("Referrer-Policy", "no-referrer"),
        ]
        return Endpoint.Answer(response)
    }

    private func page(
        of path: String, _ policy: Policy, isCounted: Bool
    ) -> (LinkPage, status: Int, ServiceMetrics.LinkPageKind) {
        let apps = (policy.catalogue?.apps ?? [:]).compactMap { id, app in
            app.rules.links.map { (id: id, app: app, links: $0) }
        }.sorted { $0.id.text.description < $1.id.text.description }
        guard let link = LinkText(lastPart: path.dropFirst(LinkText.path.count)) else { return unknown(apps) }
        for app in apps {
            let (campaign, expiresAt): (Campaign?, Timestamp?)
            switch link {
            case .campaign(let name): (campaign, expiresAt) = (app.links.campaign(name), nil)
            case .personal(let text):
                guard let key, let token = LinkToken(text, in: app.id, under: key) else { continue }
                (campaign, expiresAt) = (token.campaign(in: app.links, under: key), token.expiresAt)
            }
            guard let campaign else { continue }
            let time = now()
            let isOver = expiresAt.map { time >= $0 || campaign.offer == nil } ?? false
            guard !campaign.hasEnded(at: time), !isOver else {
                return (LinkPage(appName: app.links.appName, appAppleID: app.app.appAppleID, .ended), 410, .ended)
            }
            let isPersonal = expiresAt != nil
            if isCounted {
                visits.count(
                    campaign.name, isPersonal: isPersonal,
                    in: AppScope(bundleID: app.id, environment: app.app.firstEnvironment), at: time)
            }
            let offer = LinkPage.Offer(
                campaign, terms: campaign.terms(in: app.app), isPersonal: isPersonal,
                address: origin.map { $0 + LinkText.path + link.lastPart })
            return (
                LinkPage(appName: app.links.appName, appAppleID: app.app.appAppleID, .offer(offer)), 200,
                isPersonal ? .personal : .campaign
            )
        }
        return unknown(apps)
    }

    /// The page of a link that is none. It is in the app's name if there is only one app.
    private func unknown(
        _ apps: [(id: BundleID, app: Catalogue.App, links: LinkPolicy)]
    ) -> (LinkPage, status: Int, ServiceMetrics.LinkPageKind) {
        let name = apps.count == 1 ? apps[0].links.appName : "App Store"
        return (LinkPage(appName: name, appAppleID: nil, .unknown), 404, .unknown)
    }
}

extension LinkPage.Offer {
    fileprivate init(_ campaign: Campaign, terms: String?, isPersonal: Bool, address: String?) {
        let page = campaign.page
        self.init(
            title: page.title, text: page.text, button: page.button, language: page.language, terms: terms,
            isPersonal: isPersonal, address: address)
    }
}

extension Campaign {
    /// Returns the terms of the campaign's offer in words. They are in English, so pages in other languages have none.
    fileprivate func terms(in app: Catalogue.App) -> String? {
        guard let offer, page.language == "en" || page.language.hasPrefix("en-"),
            let terms = app.listing?.terms(of: offer.productID, offer.offerID, in: page.storefront),
            let text = terms.text
        else { return nil }
        return (terms.displayName.map { "\($0): " } ?? "") + text
    }
}
