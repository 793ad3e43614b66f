package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func customers(
        _ query: CustomerQuery, bundleID: BundleID, environment: AppStoreEnvironment?
    ) async throws(StoreError) -> [StoredCustomer] {
        try await read { db in
            try AppTable.all(bundleID, environment, db).compactMap { id, app, coverage in
                try Self.customer(CustomerSearch(query, id, db), id, app, coverage, db)
            }
        }
    }

    package func subscriptionNumbers(in app: AppScope) async throws(StoreError) -> ClosedRange<Int64>? {
        try await read { db in try AppTable.id(of: app, db).flatMap { try SubscriptionTable.numbers(of: $0, db) } }
    }

    package func customers(
        in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> [NumberedCustomer] {
        try await read { db in
            guard let (id, _, coverage) = try AppTable.all(app.bundleID, app.environment, db).first else { return [] }
            return try SubscriptionTable.originals(of: id, numbers, db).flatMap { number, original in
                let accounts = try CustomerSearch.possibleAccounts(of: original, numbered: number, id, db)
                let identifiers = accounts.isEmpty ? [.originalTransactionID(original)] : accounts
                return try identifiers.compactMap { identifier in
                    let search = try CustomerSearch(CustomerQuery(identifier), id, db)
                    return try Self.customer(search, id, app, coverage, db).map {
                        NumberedCustomer(originalTransactionID: original, identifier: identifier, customer: $0)
                    }
                }
            }
        }
    }

    package func known(
        among names: Set<CustomerIdentifier>, in app: AppScope, numbered numbers: ClosedRange<Int64>
    ) async throws(StoreError) -> Set<CustomerIdentifier> {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            var known = try IdentifierTable.identifiers(of: id, numbers, db)
            known.formUnion(
                try SubscriptionTable.originals(of: id, numbers, db).map { .originalTransactionID($0.original) })
            for name in names where try !known.contains(name) && Self.isKnown(name, id, db) { known.insert(name) }
            return known.intersection(names)
        }
    }

    private static func isKnown(_ name: CustomerIdentifier, _ app: Int64, _ db: any Database) throws -> Bool {
        if case .originalTransactionID(let original) = name, try SubscriptionTable.id(of: original, app, db) != nil {
            return true
        }
        let queries = [
            IdentifierTable.purchases(naming: name, app, limit: 1), LinkTable.links(ofAndTo: name, app, limit: 1),
        ]
        return try db.rows(queries).contains { !$0.isEmpty }
    }

    /// - Returns: nil if nothing is known about the customer.
    static func customer(
        _ search: CustomerSearch, _ id: Int64, _ app: AppScope, _ coverage: HistoryEvidence.Coverage?,
        _ db: any Database
    ) throws -> StoredCustomer? {
        let (subscriptions, names) = (Array(search.subscriptions), search.allNames)
        let (ofTeamFacts, ofLinks) = (TeamFactTable.all(of: names, id), LinkTable.links(of: names, id))
        let (ofExposures, ofEvents) = (ExposureTable.all(of: names, id), OfferEventTable.all(of: names, id))
        let ofGrants = GrantTable.all(of: names, id)
        var answers = try db.rows(
            subscriptions.map { FactTable.all($0.key) } + ofTeamFacts + ofLinks + ofExposures + ofEvents + ofGrants)[
                ...]
        func rows(of queries: [Query]) -> [Row] {
            defer { answers.removeFirst(queries.count) }
            return Array(answers.prefix(queries.count).joined())
        }
        let facts = try subscriptions.flatMap { _, found in
            try answers.removeFirst().map { try FactTable.fact($0, of: found.original) }
        }
        let teamFacts = try rows(of: ofTeamFacts).map(TeamFactTable.fact)
        let links = try rows(of: ofLinks).map(LinkTable.link)
        let exposures = try rows(of: ofExposures).map(ExposureTable.exposure)
        let events = try rows(of: ofEvents).map(OfferEventTable.event)
        let grants = try rows(of: ofGrants).map(GrantTable.grant)
        let isKnown = !facts.isEmpty || !teamFacts.isEmpty || !links.isEmpty
        // Proofs may show purchases of an account about which only records are stored.
        guard isKnown || search.hasProofs && !(exposures.isEmpty && events.isEmpty && grants.isEmpty) else {
            return nil
        }
        return StoredCustomer(
            app: app, facts: facts, teamFacts: teamFacts, links: links, exposures: exposures, events: events,
            grants: grants, isComplete: search.isComplete, hasUnreadConsumables: search.hasMoreConsumables,
            coverage: coverage)
    }

    package func setTeamFacts(
        _ statements: [TeamFactStatement], in app: AppScope, tracking tracked: Set<FieldText>, at now: Timestamp
    ) async throws(StoreError) {
        try await write(.names(Set(statements.map { .identifier($0.identifier, app) }))) { db in
            let id = try AppTable.makeID(of: app, db)
            let identifiers = try statements.map { try Self.lasting($0.identifier, id, db) }
            var values: [TrackedFactTable.Subject: TeamFactValue?] = [:]
            for (statement, identifier) in zip(statements, identifiers) {
                for (name, value) in statement.values where tracked.contains(name) {
                    values.updateValue(
                        value, forKey: TrackedFactTable.Subject(identifier: identifier, name: name))
                }
            }
            try TrackedFactTable.record(values, at: now, id, db)
            for (statement, identifier) in zip(statements, identifiers) {
                for (name, value) in statement.values {
                    guard let value else {
                        try TeamFactTable.remove(name, of: identifier, id, db)
                        continue
                    }
                    let fact = TeamFact(identifier: identifier, name: name, value: value, setAt: now)
                    try TeamFactTable.set(fact, id, db)
                }
                try CustomerSearch.markReviews(of: identifier, id, db)
            }
        }
    }

    package func link(
        _ identifier: CustomerIdentifier, to account: Customer?, in app: AppScope, at now: Timestamp
    ) async throws(StoreError) {
        try await write(.names([.identifier(identifier, app)])) { db in
            let id = try AppTable.makeID(of: app, db)
            let identifier = try Self.lasting(identifier, id, db)
            // The account before the link loses the purchase.
            try CustomerSearch.markReviews(of: identifier, id, db)
            if let account {
                try LinkTable.set(CustomerLink(identifier: identifier, account: account), at: now, id, db)
                try CustomerSearch.markReviews(of: CustomerIdentifier(account), id, db)
            } else {
                try LinkTable.remove(identifier, id, db)
            }
            try CustomerSearch.markReviews(of: identifier, id, db)
        }
    }

    /// Returns the subscription of a known transaction, or else the identifier. Statements are stored for the
    /// subscription, because it will have more transactions.
    private static func lasting(
        _ identifier: CustomerIdentifier, _ app: Int64, _ db: any Database
    ) throws -> CustomerIdentifier {
        guard case .transactionID(let id) = identifier,
            let subscription = try db.rows(SubscriptionTable.ids(ofTransaction: id, app)).joined().first,
            let row = try db.rows([SubscriptionTable.original(try subscription["id"])]).joined().first
        else { return identifier }
        return .originalTransactionID(try row.transactionID("original_transaction_id"))
    }

    package func erase(_ identifier: CustomerIdentifier, in app: AppScope) async throws(StoreError) -> Erasure {
        var (subscriptions, payloads) = (0, 0)
        var rest: Set<CustomerIdentifier> = [identifier]
        // Data is erased in steps, so that notifications do not wait long.
        while let name = rest.popFirst() {
            let step = try await write(.everything) { db in
                try AppTable.id(of: app, db).map { try CustomerErasure.erase(name, $0, db) }
            }
            guard let step else { continue }
            subscriptions += step.erasure.subscriptions
            payloads += step.erasure.payloads
            rest.formUnion(step.rest)
        }
        try await overwriteErased()
        return Erasure(subscriptions: subscriptions, payloads: payloads)
    }
}
