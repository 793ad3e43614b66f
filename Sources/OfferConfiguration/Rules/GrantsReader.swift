import OfferCore
import OfferEligibility

/// Reads the `grants` of an app: how a person may give an offer to one customer.
enum GrantsReader {
    static func read(_ value: YAMLValue, of app: RetentionReader.App) -> GrantPolicy {
        if app.products.values.allSatisfy(\.terms.isEmpty) {
            value.report(
                "no offer of the app has a rule or limits, so every customer gets every offer without a grant",
                hint: "give an offer a rule, or remove grants")
        }
        let members = value.members("grants", known: ["reasons", "dailyBudget", "expiresIn", "message"])
        let lifetime = members["expiresIn"].flatMap { value -> Duration? in
            guard let lifetime = value.duration() else { return nil }
            guard lifetime > .zero, lifetime <= GrantPolicy.maximumLifetime else {
                return value.refuse("expiresIn must be at most 366d", hint: "write a duration, such as 14d")
            }
            return lifetime
        }
        if let message = members["message"], !app.hasAppAppleID {
            message.report(
                "the App Store's cancel page needs the app's appAppleID, because the App Store identifies the app by it",
                hint: "copy it from App Store Connect, under App Information")
        }
        return GrantPolicy(
            reasons: members["reasons"].map(readReasons) ?? GrantPolicy.defaultReasons,
            dailyBudget: members["dailyBudget"]?.number(in: 0...100_000) ?? GrantPolicy.defaultDailyBudget,
            lifetime: lifetime ?? GrantPolicy.defaultLifetime,
            messages: members["message"].flatMap(RetentionMessagesReader(app.environments).read))
    }

    private static func readReasons(_ value: YAMLValue) -> [String] {
        var reasons: [String] = []
        for item in value.list("reasons", ifEmpty: ("the list is empty", "add a reason, or remove reasons")) {
            guard let reason = item.text, (1...64).contains(reason.utf8.count),
                reason.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "_- ".utf8.contains($0) })
            else {
                item.report("this is not a valid reason", hint: "up to 64 letters, digits, spaces, - and _")
                continue
            }
            if reasons.contains(reason) { item.report("this reason is a duplicate", hint: "remove one") }
            reasons.append(reason)
        }
        return reasons
    }
}
