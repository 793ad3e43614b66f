import OfferCore
import OfferEligibility

/// The first exposure of each customer to an offer, for each sample.
enum ExposureTable {
    /// The numbers under which databases store the arms.
    private static let arms: [Exposure.Arm: Int64] = [.offered: 1, .heldOut: 2]

    /// Returns the queries for the rows that ``exposure(_:)`` reads.
    static func all(of customers: some Collection<CustomerIdentifier>, _ app: Int64) -> [Query] {
        ofCustomers.queries(about: customers, app)
    }

    private static let ofCustomers = IdentifierQueries { kind, value in
        "SELECT * FROM exposure WHERE app = ?1 AND kind = \(kind) AND value = \(value)"
    }

    static func exposure(_ row: Row) throws -> Exposure {
        guard let source = try OfferSource(row) else { throw StoreError.unreadable("channel") }
        let sample: String = try row["sample"]
        let place = try (row["is_in_sample"] as Int64?).map { SamplePlace(sample: sample, isInSample: $0 != 0) }
        let hasOfferID = try !(row["offer_id"] as String).isEmpty
        return Exposure(
            subject: try StoredIdentifier(kind: try row["kind"], value: try row["value"]).recordedCustomer(),
            productID: try row.productID, offerID: hasOfferID ? try row.offerID : nil, arm: try arm(row), place: place,
            source: source, placement: try row["placement"], rulesDigest: try row["rules_digest"],
            at: try row.requiredTime("at"))
    }

    /// Reads the column `arm`.
    static func arm(_ row: Row) throws -> Exposure.Arm {
        let number: Int64 = try row["arm"]
        guard let arm = arms.first(where: { $0.value == number })?.key else { throw StoreError.unreadable("arm") }
        return arm
    }

    static func number(of arm: Exposure.Arm) -> Int64? { arms[arm] }

    /// Reads the next exposures to an offer.
    /// - Returns: the place at which the next step starts; nil after the last one.
    static func page(
        of offer: ReportedOffer, _ app: Int64, after place: ExposurePlace, limit: Int, _ db: any Database
    ) throws -> ([Exposure], next: ExposurePlace?) {
        let rows = try db.rows(
            """
            SELECT * FROM exposure
            WHERE app = ? AND product_id = ? AND offer_id = ? AND sample = ? AND (kind, value) > (?, ?)
            ORDER BY kind, value LIMIT ?
            """,
            [
                app, offer.productID.text.description, offer.offerID.text.description, offer.sample ?? "", place.kind,
                place.value, limit,
            ])
        let exposures = try rows.map(exposure)
        guard rows.count == limit, let last = rows.last else { return (exposures, nil) }
        return (exposures, ExposurePlace(kind: try last["kind"], value: try last["value"]))
    }

    /// Adds an exposure, unless the customer already has one to the offer in the sample.
    static func add(_ exposure: Exposure, _ app: Int64, _ db: any Database) throws {
        let subject = StoredIdentifier(exposure.subject)
        try db.send(
            """
            INSERT INTO exposure
                (app, kind, value, product_id, offer_id, sample, is_in_sample, arm, rule, channel, placement,
                rules_digest, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                app, subject.kind, subject.value, exposure.productID.text.description,
                exposure.offerID?.text.description ?? "", exposure.place?.sample ?? "",
                exposure.place.map { $0.isInSample ? 1 : 0 } as Int64?, arms[exposure.arm], exposure.source.rule,
                exposure.source.channel.number, exposure.placement, exposure.rulesDigest, exposure.at.milliseconds,
            ])
    }

    /// Removes the exposures that were recorded with an authorisation.
    static func remove(
        with authorisation: Authorisation, of customer: CustomerIdentifier, _ app: Int64, _ db: any Database
    ) throws {
        let stored = StoredIdentifier(customer)
        try db.send(
            """
            DELETE FROM exposure
            WHERE app = ? AND kind = ? AND value = ? AND product_id = ? AND offer_id = ? AND arm = ? AND at = ?
            """,
            [
                app, stored.kind, stored.value, authorisation.productID.text.description,
                authorisation.offerID.text.description, arms[.offered], authorisation.at.milliseconds,
            ])
    }

    /// Removes a customer's identifier from the exposures, which still count.
    static func erase(_ customer: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        let (stored, erased) = (StoredIdentifier(customer), StoredIdentifier.erased())
        try db.send(
            "UPDATE exposure SET kind = ?, value = ? WHERE app = ? AND kind = ? AND value = ?",
            [erased.kind, erased.value, app, stored.kind, stored.value])
    }
}

extension OfferSource {
    /// Reads the columns `rule` and `channel`.
    /// - Returns: nil if the channel is NULL.
    init?(_ row: Row, retentionCase: Int64? = nil) throws {
        guard let number: Int64 = try row["channel"] else { return nil }
        guard let channel = Channel.allCases.first(where: { $0.number == number }) else {
            throw StoreError.unreadable("channel")
        }
        self.init(rule: try row["rule"], channel: channel, retentionCase: retentionCase)
    }
}

extension OfferSource.Channel {
    /// The number under which databases store the channel.
    var number: Int64 {
        switch self {
        case .decision: 1
        case .retention: 2
        case .grant: 3
        case .link: 4
        }
    }
}
