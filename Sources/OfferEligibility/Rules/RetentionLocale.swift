import OfferCore

/// A locale for comparison. Case does not matter, and `-` and `_` are the same separator.
///
/// Apple does not document the grammar of `userLocale`.
package struct RetentionLocale: Hashable, Sendable {
    /// In lower case, with `-`.
    package let text: String

    package init(_ text: String) {
        self.text = String(text.map { $0 == "_" ? "-" : $0 }).lowercased()
    }

    /// The locales whose messages a customer with this locale understands, best first and without duplicates. First
    /// come the locale itself, its other spellings and its parents (``LocaleParts/chain``). Then its last parts are
    /// dropped one by one, down to the language. For `zh-MO`: `zh-mo`, `zh-hant-mo`, `zh-hant-hk`, `zh-hk`, `zh-hant`,
    /// `zh-hant-tw`, `zh-tw`, `zh`.
    package var fromExactToLanguage: [RetentionLocale] {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let shortened = (1...max(1, parts.count)).reversed().map { parts.prefix($0).joined(separator: "-") }
        let known = LocaleParts(parts)
        var seen: Set<String> = []
        return (shortened.prefix(parts.count - (known?.count ?? 0) + 1) + (known?.chain ?? []) + shortened)
            .filter { seen.insert($0).inserted }.map(RetentionLocale.init)
    }
}
