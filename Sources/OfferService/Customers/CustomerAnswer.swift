package import OfferCore
package import SubscriberStore

/// The answer of `POST /v1/customers/lookup`, which `offer-signer customers show` prints too.
package enum CustomerAnswer {
    /// - Parameters:
    ///   - stored: what the store knows of the customer, for each environment.
    ///   - identifier: the one that was asked for.
    package static func body(
        _ stored: [StoredCustomer], known identifier: CustomerIdentifier, of app: Catalogue.App, at now: Timestamp
    ) -> [UInt8] {
        let customers = stored.sorted { $0.app.environment.rawValue < $1.app.environment.rawValue }
            .compactMap { OwnedCustomer($0, known: identifier, by: app.ownership) }
        var writer = JSONWriter()
        writer.objects("customers", customers) { $1.write(to: &$0, groups: app.groups, at: now) }
        return writer.finish()
    }
}

extension OwnedCustomer {
    /// - Parameter groups: the subscription groups of products, for receipts, which do not name them.
    fileprivate func write(to writer: inout JSONWriter, groups: [ProductID: String], at now: Timestamp) {
        let state = SubscriberState(of: facts, environment: app.environment, groups: groups, at: now)
        writer.member("environment", app.environment.rawValue)
        if let appAccountToken { writer.member(.appAccountToken(appAccountToken)) }
        if let applicationUsername { writer.member(.applicationUsername(applicationUsername)) }
        if let appTransactionID { writer.member(.appTransactionID(appTransactionID)) }
        writer.objects("subscriptions", state.subscriptions) { $1.write(to: &$0) }
        writer.objects("redemptions", state.redemptions) { $1.write(to: &$0) }
        // There is no ledger yet.
        writer.member("authorisations", [String]())
        writer.object("facts") { writer in
            for fact in teamFacts { writer.rawMembers(fact.member) }
        }
        writer.objects("links", links) { writer, link in
            writer.member(link.identifier)
            writer.member(CustomerIdentifier(link.account))
        }
        if !isComplete { writer.member("complete", false) }
    }
}

extension TeamFact {
    /// The name and the value as a JSON member.
    fileprivate var member: [UInt8] {
        JSONWriter.string(name.utf8) + [UInt8(ascii: ":")]
            + {
                switch value {
                case .text(let utf8): JSONWriter.string(utf8)
                case .number(let utf8): utf8
                case .bool(let value): Array((value ? "true" : "false").utf8)
                }
            }()
    }
}
