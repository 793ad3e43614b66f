import OfferCore

extension StoreKitError {
    /// Reads an error as programs print it.
    /// - Parameter text: a name with or without its type, such as `SKError.invalidSignature`, `SKErrorInvalidSignature`
    ///   or `.invalidSignature`; a raw value of `SKError.Code`, such as `12` or `Error 12`; or the text of an
    ///   `NSError`, such as `Error Domain=SKErrorDomain Code=12 "…" UserInfo={…}`. A code of any other domain has
    ///   another meaning, so it is ignored.
    package init?(_ text: String) {
        let words = Self.words(of: text)
        let found =
            Self.error(named: text.split(separator: ".").last ?? "")
            ?? Self.error(withDomainIn: words)
            ?? words.lazy.compactMap(Self.error(inSentence:)).first
            ?? Self.error(withoutDomainIn: words)
        guard let found else { return nil }
        self = found
    }

    /// The words that may stand between the domain of an error and its code, in English and other languages.
    private static let connectives: Set<String> = ["code", "error", "errorcode", "erro", "rawvalue"]

    private static let domain = "skerrordomain"

    /// The types whose raw values are codes of the domain.
    private static let types: Set<String> = ["skerror", "skerrorcode"]

    /// Splits text at every character except ASCII letters, ASCII digits, `_` and `-`. A minus sign stays with its
    /// number.
    private static func words(of text: String) -> [String] {
        let words = text.utf8.split { byte in
            !(byte.isASCIIAlphanumeric || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-"))
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func error(withCode code: String) -> StoreKitError? { allCases.first { $0.codes.contains(code) } }

    private static func error(named text: Substring) -> StoreKitError? {
        let name = (text.hasPrefix("SKError") ? text.dropFirst(7) : text).lowercased()
        return allCases.first { $0.names.contains { $0.lowercased() == name } }
    }

    /// Finds a name among other words. The plain word `unknown` does not count as a name.
    private static func error(inSentence word: String) -> StoreKitError? {
        word.lowercased() == "unknown" ? nil : error(named: Substring(word))
    }

    /// Finds the code after `SKErrorDomain`, or after a type such as `SKErrorCode(rawValue:`. An error may contain
    /// other errors, so the first code other than `unknown` counts.
    private static func error(withDomainIn words: [String]) -> StoreKitError? {
        let errors = words.indices.compactMap { place -> StoreKitError? in
            let word = words[place].lowercased()
            // In some languages, a word is joined to the domain: SKErrorDomain-Fehler 12.
            guard word.hasPrefix(domain) || types.contains(word) else { return nil }
            let code = words[(place + 1)...].first { !connectives.contains($0.lowercased()) }
            return code.flatMap(error(withCode:))
        }
        return errors.first { $0 != .unspecific } ?? errors.first
    }

    /// Reads a code without a domain, with or without words such as `Error`.
    private static func error(withoutDomainIn words: [String]) -> StoreKitError? {
        let others = words.filter { !connectives.contains($0.lowercased()) }
        return others.count == 1 ? error(withCode: others[0]) : nil
    }
}
