package import OfferCore
package import OfferEligibility

/// The personal links of campaigns, and the visits to the pages of links.
package protocol LinkStore: Sendable {
    /// Makes the links of customers, draws who is left out, and adds an exposure for each. A customer who has a link of the
    /// campaign keeps it as it is, and an erased customer gets no other one.
    /// - Returns: the links as they are stored, in the order of the customers.
    func make(
        _ mailing: Mailing, for customers: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> [MailedLink]

    /// - Parameter id: ``MailedLink/id``.
    func link(_ id: [UInt8], in app: AppScope) async throws(StoreError) -> MailedLink?

    /// Records that its customer opened a link in the app, and adds the grant. Every claim after the first changes nothing.
    /// - Returns: the link as it is stored; nil if it gives nothing, because the customer was erased in the meantime.
    func claim(_ link: MailedLink, in app: AppScope, at now: Timestamp) async throws(StoreError) -> MailedLink?

    /// Returns the counts of each campaign that has any, by name.
    func linkCounts(in app: AppScope) async throws(StoreError) -> [String: LinkCounts]

    /// Adds visits to those that were counted earlier.
    func addVisits(_ visits: [LinkVisits], in app: AppScope) async throws(StoreError)
}

/// The visits to the pages of a campaign on one day. Some are by programs that scan mail.
package struct LinkVisits: Hashable, Sendable {
    package let campaign: String
    /// The day in UTC, as the number of days since 1970.
    package let day: Int64
    /// True for pages of personal links.
    package let isPersonal: Bool
    package let count: Int64

    package init(campaign: String, day: Int64, isPersonal: Bool, count: Int64) {
        self.campaign = campaign
        self.day = day
        self.isPersonal = isPersonal
        self.count = count
    }
}

/// The counts of a campaign's links.
package struct LinkCounts: Hashable, Sendable {
    /// The customers for whom a personal link was made.
    package var made: Int64 = 0
    /// The customers whom the mailing left out.
    package var heldOut: Int64 = 0
    /// The personal links that their customers opened in the app.
    package var claimed: Int64 = 0
    /// The visits to pages of personal links.
    package var personalVisits: Int64 = 0
    /// The visits to the page of the campaign's own link.
    package var campaignVisits: Int64 = 0

    package init() {}
}
