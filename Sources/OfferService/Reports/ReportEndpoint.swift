import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferReports
import SubscriberStore

/// `GET /v1/reports/offers`: the kept report of an offer, or the progress of one that is being made.
struct ReportEndpoint: Sendable {
    let desk: ReportDesk
    let now: @Sendable () -> Timestamp
    private let limit = LaneLimit(16)

    init(desk: ReportDesk, now: @escaping @Sendable () -> Timestamp) {
        self.desk = desk
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let query = try ReportQuery(admission.members(of: request))
            let time = now()
            guard query.asOf.map({ $0 <= time }) ?? true else { throw .reportInFuture }
            let subject = ReportSubject(try query.offer(in: admission), query.cohorts, asOf: query.asOf)
            return try await desk.answer(subject, at: time) { answer($0, query.format) }
        }
    }

    private func answer(_ report: OfferReport, _ format: ReportFormat) -> HTTPResponse {
        switch format {
        case .json: HTTPResponse(body: report.json)
        case .csv: HTTPResponse(mediaType: .csv, body: report.csv)
        case .html:
            HTTPResponse(mediaType: .html, body: ReportPage(report, version: OfferSignerVersion.text).html.utf8)
        }
    }
}

/// `GET /v1/reports/subscriptions`: the kept report about the subscriptions of an app.
struct SubscriptionReportEndpoint: Sendable {
    let desk: ReportDesk
    let now: @Sendable () -> Timestamp
    private let limit = LaneLimit(16)

    init(desk: ReportDesk, now: @escaping @Sendable () -> Timestamp) {
        self.desk = desk
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let query = try SubscriptionReportQuery(admission.members(of: request))
            let time = now()
            guard query.asOf.map({ $0 <= time }) ?? true else { throw .reportInFuture }
            let app = try admission.app(query.bundleID)
            let scope = AppScope(
                bundleID: query.bundleID, environment: query.environment ?? app.firstEnvironment)
            let subject = ReportSubject(.subscriptions(scope, query.zone), asOf: query.asOf)
            return try await desk.answer(subject, at: time) { answer($0, query.format) }
        }
    }

    private func answer(_ report: SubscriptionReport, _ format: ReportFormat) -> HTTPResponse {
        switch format {
        case .json: HTTPResponse(body: report.json)
        case .csv: HTTPResponse(mediaType: .csv, body: report.csv)
        case .html:
            HTTPResponse(
                mediaType: .html,
                body: SubscriptionReportPage(report, version: OfferSignerVersion.text).html.utf8)
        }
    }
}

extension ReportDesk {
    /// The seconds after which the progress is worth another look.
    private static let lookAgain = 5

    /// Returns the response for a kept report, or the progress of one that is being made.
    fileprivate func answer<Report: KeptResult>(
        _ subject: ReportSubject, at time: Timestamp, _ answer: (Report) -> HTTPResponse
    ) async throws(Problem) -> HTTPResponse {
        let standing: ReportStanding<Report>?
        do throws(StoreError) {
            standing = try await standings(of: [subject], at: time, as: Report.self)[subject]
        } catch { throw Problem(error) }
        if let report = standing?.report { return answer(report) }
        switch standing?.work {
        case .waiting(let customersRead)?: return Self.progress(customersRead, subject)
        case .failed?: throw .reportFailed
        case .refused?, .some(.none), nil: throw .overloaded
        }
    }

    private static func progress(_ count: Int, _ subject: ReportSubject) -> HTTPResponse {
        var writer = JSONWriter()
        writer.member("state", "waiting")
        switch subject.topic {
        case .offer: writer.member("customersRead", Int64(count))
        case .subscriptions: writer.member("subscriptionsRead", Int64(count))
        }
        var response = HTTPResponse(status: 202, body: writer.finish())
        response.retryAfter = lookAgain
        return response
    }
}

enum ReportFormat: String, CaseIterable { case json, csv, html }

extension MemberReader {
    /// The member `asOf`, as text because queries have no numbers; nil if it is absent.
    fileprivate func reportTime() throws(MemberError) -> Timestamp? {
        try optionalField("asOf") { utf8, name throws(FieldError) in
            guard let number = Int64(String(decoding: utf8, as: UTF8.self)), number >= 0 else {
                throw FieldError(field: name, reason: .notOneOf(["a number of milliseconds since 1970"]))
            }
            return Timestamp(milliseconds: number)
        }
    }

    /// One of the raw values of a type; nil if the member is absent.
    fileprivate func choice<Value: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Value.Type
    ) throws(MemberError) -> Value? where Value.RawValue == String {
        try optionalField(name) { utf8, name throws(FieldError) -> Value in
            guard let value = Value(rawValue: String(decoding: utf8, as: UTF8.self)) else {
                throw FieldError(field: name, reason: .notOneOf(Value.allCases.map(\.rawValue)))
            }
            return value
        }
    }
}

/// The query of `GET /v1/reports/subscriptions`.
private struct SubscriptionReportQuery {
    let bundleID: BundleID
    /// nil for production, if the app has it.
    let environment: AppStoreEnvironment?
    /// nil for now.
    let asOf: Timestamp?
    let zone: ReportZone
    let format: ReportFormat

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "environment", "asOf", "timeZone", "format"])
            bundleID = try reader.field("bundleID", BundleID.init)
            environment = try reader.environment()
            asOf = try reader.reportTime()
            zone = try reader.choice("timeZone", ReportZone.self) ?? .utc
            format = try reader.choice("format", ReportFormat.self) ?? .json
        } catch { throw Problem(error) }
    }
}

/// The query of `GET /v1/reports/offers`.
private struct ReportQuery {
    let bundleID: BundleID
    let productID: ProductID
    let offerID: OfferID
    /// nil for production, if the app has it.
    let environment: AppStoreEnvironment?
    /// nil for the only sample of the rule.
    let sample: String?
    /// nil for now.
    let asOf: Timestamp?
    let cohorts: ReportCohorts
    let format: ReportFormat

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: [
                "bundleID", "productID", "offerID", "environment", "sample", "asOf", "cohorts", "timeZone", "format",
            ])
            bundleID = try reader.field("bundleID", BundleID.init)
            productID = try reader.field("productID", ProductID.init)
            offerID = try reader.field("offerID", OfferID.init)
            environment = try reader.environment()
            sample = try reader.optionalField("sample") { utf8, _ throws(FieldError) in
                String(decoding: utf8, as: UTF8.self)
            }
            asOf = try reader.reportTime()
            cohorts = ReportCohorts(
                try reader.choice("cohorts", CohortSpan.self) ?? .week,
                try reader.choice("timeZone", ReportZone.self) ?? .utc)
            format = try reader.choice("format", ReportFormat.self) ?? .json
        } catch { throw Problem(error) }
    }

    /// Returns the offer of the configuration, and the sample that divides its customers.
    func offer(in admission: Admission) throws(Problem) -> ReportedOffer {
        let app = try admission.app(bundleID)
        guard let terms = app.rules.terms(of: productID, offerID) else { throw .unknownOffer }
        let samples = terms.rule.sampleNames
        let all = samples + app.rules.mailings(of: terms)
        guard sample.map(all.contains) ?? (samples.count <= 1) else { throw .unknownSample(all) }
        return ReportedOffer(
            app: AppScope(bundleID: bundleID, environment: environment ?? app.firstEnvironment), productID: productID,
            offerID: offerID, sample: sample ?? samples.first)
    }
}
