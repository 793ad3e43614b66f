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

    /// The seconds after which the progress is worth another look.
    private static let lookAgain = 5

    init(desk: ReportDesk, now: @escaping @Sendable () -> Timestamp) {
        self.desk = desk
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let query = try ReportQuery(admission.members(of: request))
            let time = now()
            guard query.asOf.map({ $0 <= time }) ?? true else { throw .reportInFuture }
            let subject = ReportSubject(try query.offer(in: admission), asOf: query.asOf)
            let standing: ReportStanding?
            do throws(StoreError) {
                standing = try await desk.standings(of: [subject], at: time)[subject]
            } catch { throw Problem(error) }
            if let report = standing?.report { return answer(report, query.format) }
            switch standing?.work {
            case .waiting(let customersRead)?: return Self.progress(customersRead)
            case .failed?: throw .reportFailed
            case .refused?, .some(.none), nil: throw .overloaded
            }
        }
    }

    private func answer(_ report: OfferReport, _ format: ReportQuery.Format) -> HTTPResponse {
        switch format {
        case .json: HTTPResponse(body: report.json)
        case .csv: HTTPResponse(mediaType: .csv, body: report.csv)
        case .html:
            HTTPResponse(mediaType: .html, body: ReportPage(report, version: OfferSignerVersion.text).html.utf8)
        }
    }

    private static func progress(_ customersRead: Int) -> HTTPResponse {
        var writer = JSONWriter()
        writer.member("state", "waiting")
        writer.member("customersRead", Int64(customersRead))
        var response = HTTPResponse(status: 202, body: writer.finish())
        response.retryAfter = lookAgain
        return response
    }
}

/// The query of `GET /v1/reports/offers`.
private struct ReportQuery {
    enum Format: String, CaseIterable { case json, csv, html }

    let bundleID: BundleID
    let productID: ProductID
    let offerID: OfferID
    /// nil for production, if the app has it.
    let environment: AppStoreEnvironment?
    /// nil for the only sample of the rule.
    let sample: String?
    /// nil for now.
    let asOf: Timestamp?
    let format: Format

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: [
                "bundleID", "productID", "offerID", "environment", "sample", "asOf", "format",
            ])
            bundleID = try reader.field("bundleID", BundleID.init)
            productID = try reader.field("productID", ProductID.init)
            offerID = try reader.field("offerID", OfferID.init)
            environment = try reader.environment()
            sample = try reader.optionalField("sample") { utf8, _ throws(FieldError) in
                String(decoding: utf8, as: UTF8.self)
            }
            asOf = try reader.optionalField("asOf") { utf8, name throws(FieldError) in
                guard let number = Int64(String(decoding: utf8, as: UTF8.self)), number >= 0 else {
                    throw FieldError(field: name, reason: .notOneOf(["a number of milliseconds since 1970"]))
                }
                return Timestamp(milliseconds: number)
            }
            format =
                try reader.optionalField("format") { utf8, name throws(FieldError) -> Format in
                    guard let format = Format(rawValue: String(decoding: utf8, as: UTF8.self)) else {
                        throw FieldError(field: name, reason: .notOneOf(Format.allCases.map(\.rawValue)))
                    }
                    return format
                } ?? .json
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
