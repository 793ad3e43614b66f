package import OfferCore

/// One reason why an offer is refused. Apps and users learn the code alone.
package struct DecisionReason: Hashable, Sendable {
    /// What would supply a fact that is not known.
    package enum Source: String, Hashable, Sendable {
        /// Everything that the customer ever bought: an app receipt, or the App Store's own history.
        case history
        /// The renewal info of the subscription.
        case renewalInfo = "renewal_info"
        /// A transaction with all its members, where a receipt says too little.
        case transaction
        /// What the App Store says after a period has ended.
        case notification
        case appTransaction = "app_transaction"
        /// The App Store, which was to be asked and did not answer in time.
        case appStore = "app_store"
        /// `PUT /v1/customers/facts`.
        case teamFact = "team_fact"
        /// The product's group or rank.
        case catalogue
    }

    package let code: ReasonCode
    /// The fact as rules name it; nil where the reason is not about a fact.
    package let fact: String?
    /// nil if nothing was found.
    package let found: ReasonValue?
    package let required: ReasonValue?
    /// Whether what was found is what the rule excludes.
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
    /// True if a complete history would tell what is not known.
    package var needsHistory: Bool { missing == .history || missing == .appStore }
}

extension [DecisionReason] {
    /// The code of each, once.
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
    /// Bounds, and a fact with its name, in the order of their names.
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
