import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferReports
import OfferService
import SubscriberStore

/// The reports about subscriptions: `/reports/subscriptions`.
struct SubscriptionReportsPage: Sendable {
    let desk: ReportDesk
    let acts: ConsoleActs

    /// The seconds between two refreshes of a page while its first report is made.
    private static let refresh = 3
    private static let subject = ["app", "zone"].map { FormReader.Field($0, maximumBytes: 255) }
    private static let fields = subject + ["by", "name"].map { FormReader.Field($0, maximumBytes: 255) }
    private static let table = FormReader.Field("table", maximumBytes: 16)

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.reports.roles)
        return [
            .page("/reports/subscriptions", for: access, Self.fields, page),
            .page("/reports/subscriptions.csv", for: access, Self.fields + [Self.table], download),
            .act("/reports/subscriptions/refresh", for: access, Self.subject, make),
        ]
    }

    @Sendable private func page(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (app, zone) = try request.subscriptions
        let standing = try await standing(app, zone, request)
        var group: SubscriptionReport.Group?
        if let report = standing?.report {
            guard let found = report.groups.first(where: request.isNamed) else { throw .problem(.notFound) }
            group = found
        }
        let address = request.address(of: app, zone)
        let view = SubscriptionReportView(
            frame: request.frame(at: address), now: request.now, app: app.bundleID.text.description,
            environment: app.environment.rawValue, zone: zone, report: standing?.report, group: group,
            work: standing.map { ReportView.Work($0.work) } ?? .none, address: address)
        // A page that is being read does not move.
        var refresh: Int?
        if case .waiting? = standing?.work, standing?.report == nil { refresh = Self.refresh }
        return .page(view.html, refresh: refresh)
    }

    @Sendable private func download(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (app, zone) = try request.subscriptions
        let table = request.values["table"].map(SubscriptionReport.Table.init)
        if case .some(nil) = table { throw .problem(.notFound) }
        guard let report = try await standing(app, zone, request)?.report else { throw .problem(.notFound) }
        return .csv(String(decoding: report.csv(only: table ?? nil), as: UTF8.self), name: "subscriptions.csv")
    }

    /// `POST /reports/subscriptions/refresh`: makes a report again.
    @Sendable private func make(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        let (app, zone) = try request.subscriptions
        try await acts.record(.report, request, app: app)
        let isRequested: Bool
        do {
            isRequested = try await desk.request(ReportSubject(.subscriptions(app, zone)), at: request.now)
        } catch { throw request.unavailable }
        if !isRequested, let session = request.session {
            acts.noteRefusal("too_many_reports", of: .report, by: session.account, request, app: app)
        }
        return .redirect(request.address(of: app, zone))
    }

    private func standing(
        _ app: AppScope, _ zone: ReportZone, _ request: ConsoleRequest
    ) async throws(ConsoleRefusal) -> ReportStanding<SubscriptionReport>? {
        let subject = ReportSubject(.subscriptions(app, zone))
        do {
            return try await desk.standings(of: [subject], at: request.now, as: SubscriptionReport.self)[subject]
        } catch { throw request.unavailable }
    }
}

extension ConsoleRequest {
    /// The app and the time zone that the fields name: by default the first app, and UTC.
    fileprivate var subscriptions: (AppScope, ReportZone) {
        get throws(ConsoleRefusal) {
            let apps = (policy.catalogue?.apps ?? [:]).sorted { $0.key.text.description < $1.key.text.description }
            let found = apps.first { id, _ in values["app"].map { $0 == id.text.description } ?? true }
            guard let (id, app) = found, let zone = ReportZone(rawValue: values["zone"] ?? ReportZone.utc.rawValue)
            else { throw .problem(.notFound) }
            return (AppScope(bundleID: id, environment: app.firstEnvironment), zone)
        }
    }

    /// True for the group that the fields name.
    fileprivate func isNamed(_ group: SubscriptionReport.Group) -> Bool {
        guard let kind = values["by"] else { return group.kind == .all }
        return group.kind.rawValue == kind && group.name == (group.kind == .all ? "" : values["name"])
    }

    /// The address of the page, with the group that the fields name.
    fileprivate func address(of app: AppScope, _ zone: ReportZone) -> PageAddress {
        var address = PageAddress("/reports/subscriptions").with("app", app.bundleID.text.description)
            .with("zone", zone.rawValue)
        for name in ["by", "name"] {
            if let value = values[name] { address = address.with(name, value) }
        }
        return address
    }
}
