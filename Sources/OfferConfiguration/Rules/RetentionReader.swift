import OfferCore
import OfferEligibility

/// Reads the `retention` of an app: the cases that decide what a customer who is about to cancel sees.
struct RetentionReader {
    /// The parts of an app that its cases may refer to.
    struct App {
        /// True if the file has an `appAppleID` for the app, even an unreadable one.
        let hasAppAppleID: Bool
        let environments: Set<AppStoreEnvironment>
        let products: [ProductID: ProductsReader.Product]
    }

    private typealias Shown = (content: RetentionCase.Content, messages: RetentionMessages)

    private let app: App

    private static let contents = ["message", "alternateProduct", "promotionalOffer"]

    static func read(_ value: YAMLValue, of app: App, _ rules: RulesReader) -> [RetentionCase] {
        if !app.hasAppAppleID {
            value.report(
                "retention messages need the app's appAppleID, because the App Store identifies the app by it",
                hint: "copy it from App Store Connect, under App Information")
        }
        var cases: [RetentionCase] = []
        for item in value.list("retention", ifEmpty: ("the list is empty", "add a case, or remove retention")) {
            if let last = cases.last, last.isShownToEveryone(in: app.environments) {
                item.report(
                    "this can never be reached: the case before it is shown to everyone",
                    hint: "give that case a rule, or move this one before it")
                break
            }
            guard let read = RetentionReader(app: app).readCase(item, rules) else { continue }
            if case .promotionalOffer = read.content, cases.contains(where: { $0.readsReports(in: app) }) {
                item.report(
                    "reports from apps could end an earlier case, and so lead to this offer",
                    hint: "write the cases that test shown, dismissed or firstShown after all other offers")
            }
            cases.append(read)
        }
        return cases
    }

    private func readCase(_ value: YAMLValue, _ rules: RulesReader) -> RetentionCase? {
        let members = value.members("a case", known: ["rule", "signature"] + Self.contents)
        let rule = members["rule"].read { rules.rule($0) }
        let found = Self.contents.filter { members[$0] != nil }
        if members.count == value.memberCount, found.count != 1 {
            value.report(
                found.isEmpty ? "the case shows nothing" : "the case shows \(found.joined(separator: " and "))",
                hint: "write one of \(Self.contents.joined(separator: ", "))")
        }
        guard let name = found.first, found.count == 1, let content = members[name] else { return nil }
        if let signature = members["signature"], name != "promotionalOffer" {
            signature.report("only a promotionalOffer has a signature", hint: "remove it")
        }
        if name != "promotionalOffer", rule.value?.condition.readsReports == true {
            (members["rule"] ?? value).report(
                "reports from apps could end this case, and so lead to a later one with an offer",
                hint: "leave out shown, dismissed and firstShown, or write them in the case of the offer")
        }
        let shown: Shown?
        switch name {
        case "alternateProduct": shown = readAlternateProduct(content)
        case "promotionalOffer":
            shown = readOffer(content, members["signature"]?.choice(OfferSignatureForm.self) ?? .v2)
            if let condition = rule.value?.condition, let reason = Contradictions.ofOffer(condition) {
                (members["rule"] ?? value).report("this can never hold: \(reason)", hint: "change the rule")
            }
        default: shown = RetentionMessagesReader(app.environments).read(content).map { (.message, $0) }
        }
        // A case whose rule cannot be read must not count as a case without a rule.
        guard let shown, !rule.isUnreadable else { return nil }
        return RetentionCase(rule: rule.value, content: shown.content, messages: shown.messages)
    }

    // MARK: Another product

    private func readAlternateProduct(_ value: YAMLValue) -> Shown? {
        let members = value.members(
            "alternateProduct", known: ["productID", "message", "billingPlanType"], required: ["productID", "message"])
        let plan = members["billingPlanType"]?.choice(RetentionCase.BillingPlan.self)
        let messages = members["message"].flatMap(RetentionMessagesReader(app.environments).read)
        guard let productID = members["productID"].flatMap({ Self.readProduct($0, of: app) }) else { return nil }
        let group = app.products[productID]?.group
        if group == nil {
            value.report(
                "\(productID.text) has no subscriptionGroupID, so nobody can change to it",
                hint: "copy it from App Store Connect; the App Store accepts only products of the customer's group")
        } else if !app.products.contains(where: { $0.key != productID && $0.value.group == group }) {
            value.report(
                "no other product is in the group of \(productID.text), so nobody can change to it",
                hint: "list the group's other products, without offers if they have none")
        }
        return messages.map { (.alternateProduct(productID, plan), $0) }
    }

    // MARK: A promotional offer

    private func readOffer(_ value: YAMLValue, _ form: OfferSignatureForm) -> Shown? {
        let names = ["productID", "offerID", "message"]
        let members = value.members("promotionalOffer", known: names, required: names)
        let messages = members["message"].flatMap(RetentionMessagesReader(app.environments).read)
        let productID = members["productID"].flatMap { Self.readProduct($0, of: app) }
        guard let offer = members["offerID"],
            let offerID = offer.identifier({ text throws(FieldError) in try OfferID(utf8: text) }),
            let productID, let product = app.products[productID]
        else { return nil }
        if !product.offers.contains(offerID) {
            let offers = product.offers.map(\.text.description).sorted()
            return offer.refuse(
                "\(productID.text) has no offer \(offer.found)",
                hint: NearMiss.suggestion(for: offerID.text.description, among: offers)
                    ?? "its offers: \(offers.joined(separator: ", "))")
        }
        guard product.terms.contains(where: { $0.offerID == offerID }) else {
            return offer.refuse(
                "\(offerID.text) has no rule and no limits, so nothing would keep a customer from getting it again and again",
                hint: "write it as {offerID: \(offerID.text), limits: {perCustomer: 1}}")
        }
        return messages.map {
            (.promotionalOffer(RetentionCase.Offer(productID: productID, offerID: offerID, form: form)), $0)
        }
    }

    /// - Returns: nil unless the app has the product.
    static func readProduct(_ value: YAMLValue, of app: App) -> ProductID? {
        let read = value.identifier { text throws(FieldError) in try ProductID(utf8: text, field: "productID") }
        guard let productID = read, app.products[productID] == nil else { return read }
        let products = app.products.keys.map(\.text.description).sorted()
        return value.refuse(
            "the app has no product \(value.found)",
            hint: NearMiss.suggestion(for: productID.text.description, among: products)
                ?? "its products: \(products.joined(separator: ", "))")
    }
}

extension RetentionCase {
    /// True if reports from apps can end the case, by its own rule or by that of its offer.
    fileprivate func readsReports(in app: RetentionReader.App) -> Bool {
        if rule?.condition.readsReports == true { return true }
        guard case .promotionalOffer(let offer) = content else { return false }
        let terms = app.products[offer.productID]?.terms.first { $0.offerID == offer.offerID }
        return terms?.rule.condition.readsReports ?? false
    }
}
