/// A locale as it is compared: without regard to case, and to whether `-` or `_` separates its parts.
///
/// Apple does not document the grammar of `userLocale`.
package struct RetentionLocale: Hashable, Sendable {
    /// In lower case, with `-`.
    package let text: String

    package init(_ text: String) {
        self.text = String(text.map { $0 == "_" ? "-" : $0 }).lowercased()
    }

    /// The locale, then what is left without its last part, down to the language: `zh-hans-cn`, `zh-hans`, `zh`.
    package var fromExactToLanguage: [RetentionLocale] {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return (1...max(1, parts.count)).reversed().map { RetentionLocale(parts.prefix($0).joined(separator: "-")) }
    }
}
