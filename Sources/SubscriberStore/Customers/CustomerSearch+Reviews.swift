import OfferCore
import OfferEligibility

extension CustomerSearch {
    /// Makes the reviews of all customers due that an identifier may name, if the app's events are sent.
    static func markReviews(of identifier: CustomerIdentifier, _ app: Int64, _ db: any Database) throws {
        guard try ReviewTable.app(app, db) != nil else { return }
        let search = try CustomerSearch(CustomerQuery(identifier), app, db)
        for subscription in search.subscriptions.keys.sorted() { try ReviewTable.mark(subscription, db) }
    }
}
