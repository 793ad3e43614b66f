package import OfferCore

/// A reason to refuse an offer. Apps and users see only the code.
package struct DecisionReason: Hashable, Sendable {
    /// The source that could supply an unknown fact.
    package enum Source: String, Hashable, Sendable {
        /// The customer's complete purchase history: an app receipt, or the history from the App Store.
        case history
        /// The renewal info of the subscription.
        case renewalInfo = "renewal_info"
        /// A complete transaction, if a receipt has too few members.
        case transaction
        /// App Store data signed after the end of a period.
        case notification
        case appTransaction = "app_transaction"
        /// The App Store, which did not answer a refresh in time.
        case appStore = "app_store"
        /// `PUT /v1/customers/facts`.
        case teamFact = "team_fact"
        /// The product's group or rank.
        case catalogue
        /// The member `placement` of the request.
        case placement
        /// The member `link` of the request.
        case link
    }

    package let code: ReasonCode
    /// The fact's name in rules; nil if the reason is not about a fact.
    package let fact: String?
    /// nil if nothing was found.
    package let found: ReasonValue?
    package let required: ReasonValue?
    /// True if the rule excludes the found value.
    package let isExcluded: Bool
    /// nil unless the code is ``ReasonCode/unknown``.
    package let missing: Source?

    package init(
        _ code: ReasonCode, fact: String? = nil, found: ReasonValue? = nil, required: ReasonValue? = nil,
        isExcluded: Bool = false, missing: Source? = nil
    ) {
        self.code = code
        self.fact = fact
        self.found = found
        self.required = required
        self.isExcluded = isExcluded
        self.missing = missing
    }
}

extension DecisionReason {
    /// True if a complete history would supply the unknown fact.
    package var needsHistory: Bool { missing == .history || missing == .appStore }
}

extension [DecisionReason] {
    /// The codes, without repeats.
    package var codes: [ReasonCode] { lazy.map(\.code).withoutRepeats }
}

/// A value that was found or is required.
package enum ReasonValue: Hashable, Sendable {
    case text(String)
    case number(Double)
    case bool(Bool)
    /// In milliseconds since 1970.
    case time(Timestamp)
    case duration(Duration)
    case list([ReasonValue])
    /// The members of bounds, or of a fact with its name, sorted by name.
    case members([Member])

    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: ReasonValue

        package init(_ name: String, _ value: ReasonValue) {
            self.name = name
            self.value = value
        }
    }
}
