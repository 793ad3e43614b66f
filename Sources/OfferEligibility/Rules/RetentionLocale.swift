import OfferCore

/// A normalized locale. Case is ignored, and `_` is equivalent to `-`.
///
/// Apple does not document the grammar of `userLocale`.
package struct RetentionLocale: Hashable, Sendable {
    /// The locale in lower case, with `-` as the separator.
    package let text: String

    package init(_ text: String) {
        self.text = String(text.map { $0 == "_" ? "-" : $0 }).lowercased()
    }

    /// The locales whose messages a customer with this locale understands, best first and without duplicates. First
    /// comes the locale itself, and then the locale without each of its unknown trailing parts. Its other spellings and
    /// parents (``LocaleParts/chain``) follow, and finally its shorter prefixes. For `zh-MO`: `zh-mo`, `zh-hant-mo`,
    /// `zh-hant-hk`, `zh-hk`, `zh-hant`, `zh-hant-tw`, `zh-tw`, `zh`.
    package var fromExactToLanguage: [RetentionLocale] {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let shortened = (1...max(1, parts.count)).reversed().map { parts.prefix($0).joined(separator: "-") }
        let known = LocaleParts(parts)
        var seen: Set<String> = []
        return (shortened.prefix(parts.count - (known?.count ?? 0) + 1) + (known?.chain ?? []) + shortened)
            .filter { seen.insert($0).inserted }.map(RetentionLocale.init)
    }
}
