package import OfferEligibility

/// Something that a person does in the console. It is recorded before it takes effect.
package struct ConsoleAct: Hashable, Sendable {
    /// The raw values name the kinds in the audit trail.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case signIn = "console_sign_in"
        case signOut = "console_sign_out"
        /// A sign-in link was made, with the command.
        case link = "console_link"
        /// The sessions of a person, or of everybody, were ended with the command.
        case endSessions = "console_end_sessions"
        /// A search for a customer. The code of `customer` is that of the text that was searched for.
        case search = "console_search"
        /// The page of a customer was opened.
        case customer = "console_customer"
        /// An alarm was acknowledged.
        case alarm = "console_alarm"
        /// Dead letters were sent again.
        case retry = "console_retry"
        /// A trial of new rules was started.
        case rulesTrial = "console_rules_trial"
        case rulesCancel = "console_rules_cancel"
        /// A report was made again.
        case report = "console_report"
        /// The activity of other persons was read.
        case audit = "console_audit"
        /// The list of grants with the customers, notes and tickets.
        case grants = "console_grants"
        /// Personal links of a campaign were made, with the command.
        case mailing = "console_mailing"
        /// Facts about many customers were set, with the command.
        case facts = "console_facts"
        /// A list of customers to write to was made.
        case worklist = "console_worklist"
        case grant = "console_grant"
        case grantApproval = "console_grant_approved"
        case grantWithdrawal = "console_grant_withdrawn"
    }

    package let kind: Kind
    /// The name of the person.
    package let person: String
    /// The person's identifier at the identity provider; nil for a person who signed in with a link.
    package let subject: String?
    /// The App Store environment of the customer; nil for acts about no customer.
    package let environment: AppStoreEnvironment?
    /// The number of the alarm; nil for other acts.
    package let alarm: Int64?
    /// nil for acts that are not about a grant.
    package let grant: AuditedGrant?

    /// The name of the person for whom a sign-in link is, or whose sessions end; of the campaign; of the list; or the number
    /// of customers. nil for everybody, and for other acts.
    package let about: String?
    /// The roles that a link gives; empty for other acts.
    package let roles: [String]

    package init(
        _ kind: Kind, by person: String, subject: String?, in environment: AppStoreEnvironment? = nil,
        alarm: Int64? = nil, grant: AuditedGrant? = nil, about: String? = nil, roles: [String] = []
    ) {
        self.kind = kind
        self.person = person
        self.subject = subject
        self.environment = environment
        self.alarm = alarm
        self.grant = grant
        self.about = about
        self.roles = roles
    }
}
