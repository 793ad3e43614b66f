import OfferCore
import OfferEligibility
import Yams

/// Reads the messages of a case: one identifier, or one for each locale, or either for each environment.
struct RetentionMessagesReader {
    private let environments: Set<AppStoreEnvironment>

    private static let identifier = "the UUID of an uploaded message, such as 1f0c6a4e-0b1d-4d55-9d56-3f6e1c1f7a10"

    /// - Parameter environments: those of the app.
    init(_ environments: Set<AppStoreEnvironment>) {
        self.environments = environments
    }

    func read(_ place: RuleNode, _ reader: inout YAMLReader) -> RetentionMessages? {
        let names = AppStoreEnvironment.known.map(\.rawValue)
        let isByEnvironment = place.node.mapping?.keys.contains { names.contains($0.scalar?.string ?? "") } ?? false
        guard isByEnvironment, let mapping = place.node.mapping else {
            return localized(place, &reader).map { RetentionMessages(otherwise: $0) }
        }
        var messages: [AppStoreEnvironment: RetentionMessages.Localized] = [:]
        var isWhole = true
        for (key, value) in mapping {
            let environment = AppStoreEnvironment(rawValue: key.scalar?.string ?? "")
            guard environments.contains(environment) else {
                let ofApp = environments.map(\.rawValue).sorted().joined(separator: ", ")
                isWhole =
                    reader.refuse(RuleNode(key, place.path), expected: "an environment of the app: \(ofApp)") ?? false
                continue
            }
            messages[environment] = localized(place.member(environment.rawValue, value), &reader)
            isWhole = isWhole && messages[environment] != nil
        }
        return isWhole ? RetentionMessages(byEnvironment: messages) : nil
    }

    private func localized(_ place: RuleNode, _ reader: inout YAMLReader) -> RetentionMessages.Localized? {
        guard let mapping = place.node.mapping else {
            return readIdentifier(place, &reader).map { RetentionMessages.Localized(otherwise: $0) }
        }
        if mapping.isEmpty { reader.contradict(place, "no message is named", hint: "write \(Self.identifier)") }
        var (byLocale, otherwise): ([RetentionLocale: UUIDText], UUIDText?) = ([:], nil)
        var isWhole = !mapping.isEmpty
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            guard let id = readIdentifier(place.member(name, value), &reader) else {
                isWhole = false
                continue
            }
            if name == "default" {
                otherwise = id
            } else if !Self.isLocale(name) {
                isWhole =
                    reader.refuse(
                        RuleNode(key, place.path), expected: "a locale such as en-US, a language such as en, or default"
                    )
                    ?? false
            } else if byLocale.updateValue(id, forKey: RetentionLocale(name)) != nil {
                isWhole = false
                reader.contradict(
                    RuleNode(key, place.path), "\(name) appears twice; letter case and - or _ make no difference",
                    hint: "remove one")
            }
        }
        return isWhole ? RetentionMessages.Localized(byLocale: byLocale, otherwise: otherwise) : nil
    }

    private func readIdentifier(_ place: RuleNode, _ reader: inout YAMLReader) -> UUIDText? {
        place.node.scalar.flatMap { UUIDText(parsing: Array($0.string.utf8)) }
            ?? reader.refuse(place, expected: Self.identifier)
    }

    /// True if a name may be one of Apple's, such as `de`, `pt-BR` or `zh-Hans-CN`.
    private static func isLocale(_ name: String) -> Bool {
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        return (2...3).contains(parts[0].utf8.count)
            && parts.allSatisfy { (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isASCIIAlphanumeric) }
    }
}
