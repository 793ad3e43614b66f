import OfferCore
import OfferEligibility

/// Reads the messages of a case: one identifier, one for each locale, or either of these for each environment.
struct RetentionMessagesReader {
    private let environments: Set<AppStoreEnvironment>

    private static let identifier = "the UUID of an uploaded message, such as 1f0c6a4e-0b1d-4d55-9d56-3f6e1c1f7a10"

    /// - Parameter environments: the app's environments.
    init(_ environments: Set<AppStoreEnvironment>) {
        self.environments = environments
    }

    func read(_ value: YAMLValue) -> RetentionMessages? {
        guard value.isMapping else { return localized(value).map { RetentionMessages(otherwise: $0) } }
        let names = AppStoreEnvironment.known.map(\.rawValue)
        let entries = value.entries(expected: Self.identifier)
        guard entries.contains(where: { names.contains($0.key.text ?? "") }) else {
            return localized(value).map { RetentionMessages(otherwise: $0) }
        }
        var messages: [AppStoreEnvironment: RetentionMessages.Localized] = [:]
        var isWhole = true
        for (key, value) in entries {
            let environment = AppStoreEnvironment(rawValue: key.text ?? "")
            guard environments.contains(environment) else {
                let ofApp = environments.map(\.rawValue).sorted().joined(separator: ", ")
                isWhole = key.refuse(expected: "an environment of the app: \(ofApp)") ?? false
                continue
            }
            messages[environment] = localized(value)
            isWhole = isWhole && messages[environment] != nil
        }
        return isWhole ? RetentionMessages(byEnvironment: messages) : nil
    }

    private func localized(_ value: YAMLValue) -> RetentionMessages.Localized? {
        guard value.isMapping else {
            return readIdentifier(value).map { RetentionMessages.Localized(otherwise: $0) }
        }
        let entries = value.entries(expected: Self.identifier)
        if entries.isEmpty { value.report("no message is named", hint: "write \(Self.identifier)") }
        var (byLocale, otherwise): ([RetentionLocale: UUIDText], UUIDText?) = ([:], nil)
        var isWhole = !entries.isEmpty
        for (key, value) in entries {
            let name = key.text ?? ""
            guard let id = readIdentifier(value) else {
                isWhole = false
                continue
            }
            if name == "default" {
                otherwise = id
            } else if !Self.isLocale(name) {
                isWhole =
                    key.refuse(expected: "a locale such as en-US, a language such as en, or default") ?? false
            } else if byLocale.updateValue(id, forKey: RetentionLocale(name)) != nil {
                isWhole = false
                key.report(
                    "\(name) appears twice; letter case and - or _ make no difference", hint: "remove one")
            }
        }
        return isWhole ? RetentionMessages.Localized(byLocale: byLocale, otherwise: otherwise) : nil
    }

    private func readIdentifier(_ value: YAMLValue) -> UUIDText? {
        value.text.flatMap { UUIDText(parsing: Array($0.utf8)) } ?? value.refuse(expected: Self.identifier)
    }

    /// Returns true if a name may be one of Apple's locales, such as `de`, `pt-BR` or `zh-Hans-CN`.
    private static func isLocale(_ name: String) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        return (2...3).contains(parts[0].utf8.count)
            && parts.allSatisfy { (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isASCIIAlphanumeric) }
    }
}
