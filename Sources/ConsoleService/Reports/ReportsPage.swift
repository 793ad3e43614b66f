import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferReports
import OfferService
import SubscriberStore

/// The reports of offers: `/reports`, and a page for each offer.
struct ReportsPage: Sendable {
    let desk: ReportDesk
    let acts: ConsoleActs

    /// The seconds between two refreshes of a page while its first report is made.
    private static let refresh = 3
    private static let table = FormReader.Field("table", maximumBytes: 16)
    private static let cohorts = ["cohorts", "zone"].map { FormReader.Field($0, maximumBytes: 16) }
    private static let fields =
        ["app", "product", "offer", "sample"].map { FormReader.Field($0, maximumBytes: 255) } + cohorts

    private static let overviewFields =
        [
            FormReader.Field("sort", maximumBytes: 16), FormReader.Field("by", maximumBytes: 16),
            FormReader.Field("only", maximumBytes: 255),
        ] + cohorts

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.reports.roles)
        return [
            .page("/reports", for: access, Self.overviewFields, overview),
            .page("/reports/offer", for: access, Self.fields, report),
            .page("/reports/offer.csv", for: access, Self.fields + [Self.table], download),
            .act("/reports/refresh", for: access, Self.fields, make),
        ]
    }

    @Sendable private func overview(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let offers = request.reportedOffers
        if let by = request.values["by"] { return try await parts(by, offers, request) }
        guard let order = request.values["sort"].map(ReportsView.Order.init) ?? .attention,
            request.values["only"] == nil, request.values["cohorts"] == nil, request.values["zone"] == nil
        else { throw .problem(.notFound) }
        var address = PageAddress("/reports")
        if let sort = request.values["sort"] { address = address.with("sort", sort) }
        let campaigns = try await campaigns(request, offers)
        return .page(
            ReportsView(
                frame: request.frame(at: address), rows: try await rows(offers, ReportCohorts(), request),
                campaigns: campaigns,
                subscriptions: request.apps.map { id in
                    (app: id, address: PageAddress("/reports/subscriptions").with("app", id))
                }, order: order
            ).html)
    }

    /// The overview by rule, channel, storefront, product or cohort.
    private func parts(
        _ by: String, _ offers: [ReportedOffer], _ request: ConsoleRequest
    ) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let part = ReportPartsView.Part(rawValue: by),
            let order = request.values["sort"].map(ReportPartsView.Order.init) ?? .attention
        else { throw .problem(.notFound) }
        let cohorts = try request.reportCohorts
        guard part == .cohort || cohorts == ReportCohorts() else { throw .problem(.notFound) }
        var address = PageAddress("/reports")
        for name in ["by", "only", "sort"] {
            if let value = request.values[name] { address = address.with(name, value) }
        }
        address = address.with(cohorts)
        return .page(
            ReportPartsView(
                frame: request.frame(at: address), rows: try await rows(offers, cohorts, request), by: part,
                cohorts: cohorts, only: request.values["only"], order: order
            ).html)
    }

    private func rows(
        _ offers: [ReportedOffer], _ cohorts: ReportCohorts, _ request: ConsoleRequest
    ) async throws(ConsoleRefusal) -> [ReportsView.Row] {
        let standings = try await standings(of: offers, cohorts, request)
        return offers.map { offer in
            let standing = standings[ReportSubject(offer, cohorts)]
            return ReportsView.Row(
                request.view(of: offer, cohorts), standing?.report, standing.map { ReportView.Work($0.work) } ?? .none)
        }
    }

    private func campaigns(
        _ request: ConsoleRequest, _ offers: [ReportedOffer]
    ) async throws(ConsoleRefusal) -> [ReportsView.Campaign] {
        let apps = (request.policy.catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
        var campaigns: [ReportsView.Campaign] = []
        for (id, app) in apps {
            guard let links = app.rules.links else { continue }
            let scope = AppScope(bundleID: id, environment: app.firstEnvironment)
            let counts: [String: LinkCounts]
            do { counts = try await desk.linkCounts(in: scope) } catch { throw request.unavailable }
            campaigns += links.campaigns.map { campaign in
                let count = counts[campaign.name] ?? LinkCounts()
                let offer = offers.first { $0.app == scope && $0.sample == campaign.sample }
                return ReportsView.Campaign(
                    name: campaign.name, app: id.text.description, made: count.made, heldOut: count.heldOut,
                    personalVisits: count.personalVisits, campaignVisits: count.campaignVisits, claimed: count.claimed,
                    report: offer.map { request.view(of: $0).address })
            }
        }
        return campaigns
    }

    @Sendable private func report(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (offer, cohorts) = (try request.reportedOffer, try request.reportCohorts)
        let standing = try await standings(of: [offer], cohorts, request)[ReportSubject(offer, cohorts)]
        let reported = request.view(of: offer, cohorts)
        let view = ReportView(
            frame: request.frame(at: reported.address), now: request.now, offer: reported, cohorts: cohorts,
            report: standing?.report, work: standing.map { ReportView.Work($0.work) } ?? .none)
        // A page that is being read does not move.
        var refresh: Int?
        if case .waiting? = standing?.work, standing?.report == nil { refresh = Self.refresh }
        return .page(view.html, refresh: refresh)
    }

    @Sendable private func download(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (offer, cohorts) = (try request.reportedOffer, try request.reportCohorts)
        let table = request.values["table"].map(OfferReport.Table.init)
        if case .some(nil) = table { throw .problem(.notFound) }
        let standing = try await standings(of: [offer], cohorts, request)[ReportSubject(offer, cohorts)]
        guard let report = standing?.report else { throw .problem(.notFound) }
        return .csv(String(decoding: report.csv(only: table ?? nil), as: UTF8.self), name: "report.csv")
    }

    /// `POST /reports/refresh`: makes a report again.
    @Sendable private func make(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (offer, cohorts) = (try request.reportedOffer, try request.reportCohorts)
        try await acts.record(.report, request, app: offer.app)
        let isRequested: Bool
        do { isRequested = try await desk.request(ReportSubject(offer, cohorts), at: request.now) } catch {
            throw request.unavailable
        }
        if !isRequested, let session = request.session {
            acts.noteRefusal("too_many_reports", of: .report, by: session.account, request, app: offer.app)
        }
        return .redirect(request.view(of: offer, cohorts).address)
    }

    private func standings(
        of offers: [ReportedOffer], _ cohorts: ReportCohorts, _ request: ConsoleRequest
    ) async throws(ConsoleRefusal) -> [ReportSubject: ReportStanding<OfferReport>] {
        do {
            return try await desk.standings(of: offers.map { ReportSubject($0, cohorts) }, at: request.now)
        } catch { throw request.unavailable }
    }
}

extension ConsoleRequest {
    /// The bundle IDs of the apps, in ascending order.
    fileprivate var apps: [String] { (policy.catalogue?.apps ?? [:]).keys.map(\.text.description).sorted() }

    /// The offers with a rule, one for each sample.
    fileprivate var reportedOffers: [ReportedOffer] { policy.catalogue?.reportedOffers ?? [] }

    /// The offer that the fields name.
    fileprivate var reportedOffer: ReportedOffer {
        get throws(ConsoleRefusal) {
            let found = reportedOffers.first { offer in
                offer.app.bundleID.text.description == values["app"]
                    && offer.productID.text.description == values["product"]
                    && offer.offerID.text.description == values["offer"]
                    && (offer.sample == values["sample"] || values["sample"] == nil)
            }
            guard let found else { throw .problem(.notFound) }
            return found
        }
    }

    /// The cohorts that the fields name: by default weeks in UTC.
    fileprivate var reportCohorts: ReportCohorts {
        get throws(ConsoleRefusal) {
            guard let span = CohortSpan(rawValue: values["cohorts"] ?? CohortSpan.week.rawValue),
                let zone = ReportZone(rawValue: values["zone"] ?? ReportZone.utc.rawValue)
            else { throw .problem(.notFound) }
            return ReportCohorts(span, zone)
        }
    }

    fileprivate func view(
        of offer: ReportedOffer, _ cohorts: ReportCohorts = ReportCohorts()
    ) -> ReportView.Offer {
        var address = PageAddress("/reports/offer").with("app", offer.app.bundleID.text.description)
            .with("product", offer.productID.text.description).with("offer", offer.offerID.text.description)
        if let sample = offer.sample { address = address.with("sample", sample) }
        let terms = policy.catalogue?.apps[offer.app.bundleID]?.rules.terms(of: offer.productID, offer.offerID)
        return ReportView.Offer(
            offerID: offer.offerID.text.description, productID: offer.productID.text.description,
            app: offer.app.bundleID.text.description, environment: offer.app.environment.rawValue,
            rule: terms?.rule.name, sample: offer.sample, address: address.with(cohorts))
    }
}

extension ReportView.Work {
    init(_ work: ReportWork) {
        self =
            switch work {
            case .none: .none
            case .waiting(let customersRead): .waiting(customersRead: customersRead)
            case .failed(let time): .failed(at: time)
            case .refused: .refused
            }
    }
}
