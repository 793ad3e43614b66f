package import OfferCore
package import OfferEligibility

/// The result of comparing an app's catalogue with App Store Connect.
package struct CatalogueReport: Hashable, Sendable {
    package let bundleID: BundleID
    /// nil before the first reading, and once it is too old.
    package let findings: [CatalogueFinding]?
    /// The time of the latest reading; nil before the first one.
    package let readAt: Timestamp?
    /// The reason that the last attempt to read failed; nil if it succeeded.
    package let failure: Diagnostic?

    package init(bundleID: BundleID, findings: [CatalogueFinding]?, readAt: Timestamp?, failure: Diagnostic?) {
        self.bundleID = bundleID
        self.findings = findings
        self.readAt = readAt
        self.failure = failure
    }

    /// What an operator must do something about.
    var problems: [Diagnostic] {
        (findings ?? []).filter { $0.severity == .error }.map(\.diagnostic)
            + [failure.map { Diagnostic("\(bundleID.text): \($0.error)", hint: $0.hint) }].compactMap(\.self)
    }
}
