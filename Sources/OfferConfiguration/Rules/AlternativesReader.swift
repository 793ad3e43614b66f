import OfferCore
import OfferEligibility

/// Reads the `instead` of an app: the cases that decide what a customer who gets no offer sees.
struct AlternativesReader {
    private enum Page: String, CaseIterable {
        case manageSubscriptions = "manage_subscriptions"
        case updatePayment = "update_payment"
        case nothing
    }

    private static let contents = ["message", "product", "show"]
    private static let textSizes = 1...1024

    static func read(_ value: YAMLValue, of app: RetentionReader.App, _ rules: RulesReader) -> [Alternative] {
        var cases: [Alternative] = []
        for item in value.list("instead", ifEmpty: ("the list is empty", "add a case, or remove instead")) {
            if let last = cases.last, last.rule == nil, !last.isProduct {
                item.report(
                    "this can never be reached: the case before it is for everyone",
                    hint: "give that case a rule, or move this one before it")
                break
            }
            if let read = readCase(item, of: app, rules) { cases.append(read) }
        }
        return cases
    }

    private static func readCase(
        _ value: YAMLValue, of app: RetentionReader.App, _ rules: RulesReader
    ) -> Alternative? {
        let members = value.members("a case", known: ["rule"] + contents)
        let rule = members["rule"].read { rules.rule($0) }
        if rule.value?.sampleNames.isEmpty == false {
            (members["rule"] ?? value).report(
                "a case cannot test a sample, because exposures to cases are not recorded",
                hint: "leave out share; use it in the rule of an offer")
        }
        let found = contents.filter { members[$0] != nil }
        if members.count == value.memberCount, found.count != 1 {
            value.report(
                found.isEmpty ? "the case shows nothing" : "the case shows \(found.joined(separator: " and "))",
                hint: "write one of \(contents.joined(separator: ", ")); show: nothing ends the list for a rule")
        }
        guard let name = found.first, found.count == 1, let content = members[name], !rule.isUnreadable else {
            return nil
        }
        let shown: Alternative.Content?
        switch name {
        case "message": shown = readMessage(content)
        case "product": shown = RetentionReader.readProduct(content, of: app).map(Alternative.Content.product)
        default:
            shown = content.choice(Page.self).map { page in
                switch page {
                case .manageSubscriptions: .manageSubscriptions
                case .updatePayment: .updatePayment
                case .nothing: .nothing
                }
            }
        }
        return shown.map { Alternative(rule: rule.value, content: $0) }
    }

    private static func readMessage(_ value: YAMLValue) -> Alternative.Content? {
        let members = value.members("message", known: ["key", "text"], required: ["key"])
        let key = members["key"].flatMap { value -> String? in
            guard let key = value.text, (1...64).contains(key.utf8.count),
                key.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "_-.".utf8.contains($0) })
            else { return value.refuse("this is not a valid key", hint: "up to 64 letters, digits, dots, - and _") }
            return key
        }
        let text = members["text"].read { value -> String? in
            guard let text = value.string(), textSizes.contains(text.utf8.count), !text.utf8.contains(0) else {
                return value.refuse(
                    "this is not a text of \(textSizes.lowerBound) to \(textSizes.upperBound) bytes",
                    hint: "shorten it, or leave the words to the app")
            }
            return text
        }
        guard let key, !text.isUnreadable else { return nil }
        return .message(key: key, text: text.value)
    }
}

extension Alternative {
    /// True if the case can pass over a customer without a rule.
    fileprivate var isProduct: Bool { if case .product = content { true } else { false } }
}
