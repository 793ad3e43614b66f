package import OfferCore
import OfferEligibility
package import SubscriberStore

/// The body of `POST /v1/offers/events`.
package struct OfferEventsRequest {
    let bundleID: BundleID
    /// The environment of events that name no signature; nil if the request names none.
    let environment: AppStoreEnvironment?
    package let reports: [OfferEventReport]

    /// The permitted number of events.
    package static let counts = 1...100
    /// The maximum number of values to read. It exceeds what the permitted number of events needs, so that a request with
    /// more gets the error about events.
    package static let maximumCount = 2048
    /// The maximum age of an event. Clocks of devices can be far off.
    package static let maximumAge = Duration.days(30)

    /// - Parameter user: the signed-in user, who is the only permitted customer and need not be named; nil to permit any
    ///   customer.
    package init(_ members: JSONObject, user: Customer?, at now: Timestamp) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "environment", "events"])
            bundleID = try reader.field("bundleID", BundleID.init)
            environment = try reader.environment()
        } catch { throw Problem(error) }
        guard let value = members["events"] else { throw .missingField("events") }
        guard case .array(let items) = value else {
            throw .wrongType(field: "events", expected: "an array", found: value.kind)
        }
        guard Self.counts.contains(items.count) else {
            throw .invalidField(FieldError(field: "events", reason: .wrongCount(Self.counts)))
        }
        var reports: [OfferEventReport] = []
        for (index, item) in items.enumerated() {
            let field = "events[\(index)]"
            guard case .object(let members) = item else {
                throw .wrongType(field: field, expected: "an object", found: item.kind)
            }
            do throws(Problem) { reports.append(try Self.report(members, user, at: now)) } catch {
                throw error.with { problem in problem.field = problem.field.map { "\(field).\($0)" } ?? field }
            }
        }
        self.reports = reports
    }

    private static let names: Set<String> = [
        "event", "nonce", "productID", "offerID", "applicationUsername", "appAccountToken", "at", "error",
    ]

    private static func report(
        _ members: JSONObject, _ user: Customer?, at now: Timestamp
    ) throws(Problem) -> OfferEventReport {
        let kind = try kind(members["event"])
        return OfferEventReport(
            kind: kind, offer: try offer(members, user), at: try time(members["at"], now: now),
            error: try error(members["error"], of: kind))
    }

    private static func offer(_ members: JSONObject, _ user: Customer?) throws(Problem) -> OfferEventReport.Offer {
        let reader = MemberReader(members)
        let customer: Customer
        do throws(MemberError) {
            try reader.refuseOthers(than: names)
            if let nonce = try reader.optionalField("nonce", Nonce.init) {
                let others = ["productID", "offerID", "applicationUsername", "appAccountToken"]
                if let other = others.first(where: { members[$0] != nil }) { throw .conflicting("nonce", other) }
                return .signed(nonce)
            }
            customer = if let user, !reader.namesCustomer { user } else { try reader.customer() }
        } catch { throw Problem(error) }
        if let user, customer != user { throw .customerNotYours }
        // An empty username is valid in a signature, but names no customer.
        guard !customer.utf8.isEmpty else {
            throw .invalidField(FieldError(field: "applicationUsername", reason: .empty))
        }
        do throws(MemberError) {
            return .named(
                CustomerIdentifier(customer), try reader.field("productID", ProductID.init),
                try reader.field("offerID", OfferID.init))
        } catch { throw Problem(error) }
    }

    private static func kind(_ value: JSONValue?) throws(Problem) -> OfferEvent.Kind {
        guard let value else { throw .missingField("event") }
        guard case .string(let utf8) = value else {
            throw .wrongType(field: "event", expected: "a string", found: value.kind)
        }
        guard let kind = OfferEvent.Kind(rawValue: String(decoding: utf8, as: UTF8.self)) else {
            let names = OfferEvent.Kind.allCases.map(\.rawValue)
            throw .invalidField(FieldError(field: "event", reason: .notOneOf(names)))
        }
        return kind
    }

    /// Returns the time of an event. Now replaces a time in the future, or one that is too old.
    private static func time(_ value: JSONValue?, now: Timestamp) throws(Problem) -> Timestamp {
        guard let value else { return now }
        guard case .number(let digits) = value, let milliseconds = Int64(String(decoding: digits, as: UTF8.self)) else {
            throw .wrongType(field: "at", expected: "a whole number of milliseconds", found: value.kind)
        }
        let time = Timestamp(milliseconds: milliseconds)
        return time <= now && time >= now - maximumAge ? time : now
    }

    private static func error(_ value: JSONValue?, of kind: OfferEvent.Kind) throws(Problem) -> String? {
        guard let value else { return nil }
        guard kind == .failed else { throw .conflictingFields("\"event\": \"failed\"", "error") }
        guard case .string(let utf8) = value else {
            throw .wrongType(field: "error", expected: "a string", found: value.kind)
        }
        do {
            return try FieldText(utf8: utf8, field: "error", sizes: 1...OfferEvent.maximumErrorSize).description
        } catch { throw .invalidField(error) }
    }
}
