import OfferCore
import OfferEligibility
import Yams

/// Reads `retention` of an app: the cases that decide what a customer who is about to cancel sees.
struct RetentionReader {
    /// The parts of an app that its cases may refer to.
    struct App {
        /// True if the file names the app's Apple ID, even if it cannot be read.
        let hasAppAppleID: Bool
        let environments: Set<AppStoreEnvironment>
        let products: [ProductID: ProductsReader.Product]
    }

    private let app: App

    private static let contents = ["message", "alternateProduct", "promotionalOffer"]

    static func read(
        _ place: RuleNode, of app: App, _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> [RetentionCase] {
        if !app.hasAppAppleID {
            reader.contradict(
                place, "retention messages need the app's appAppleID, by which the App Store names the app",
                hint: "copy it from App Store Connect, under App Information")
        }
        guard place.node.sequence != nil else {
            return reader.refuse(place, expected: "a list of cases, each on a line that starts with -") ?? []
        }
        let items = reader.items(of: place.node, "retention")
        if items.isEmpty { reader.contradict(place, "the list is empty", hint: "add a case, or remove retention") }
        var cases: [RetentionCase] = []
        for (index, node) in items.enumerated() {
            let item = RuleNode(node, place.path + "[\(index)]")
            if let last = cases.last, last.isShownToEveryone(in: app.environments) {
                reader.contradict(
                    item, "this can never be reached: the case before it is shown to everyone",
                    hint: "give that case a rule, or move this one before it")
                break
            }
            if let read = RetentionReader(app: app).readCase(item, &rules, &reader) { cases.append(read) }
        }
        return cases
    }

    private func readCase(
        _ place: RuleNode, _ rules: inout RulesReader, _ reader: inout YAMLReader
    ) -> RetentionCase? {
        let members = reader.members(of: place, "a case", known: ["rule", "signature"] + Self.contents)
        let rule = members["rule"].map { rules.rule(at: $0, &reader) }
        let found = Self.contents.filter { members[$0] != nil }
        if members.count == place.node.mapping?.count, found.count != 1 {
            reader.contradict(
                place, found.isEmpty ? "the case shows nothing" : "the case shows \(found.joined(separator: " and "))",
                hint: "write one of \(Self.contents.joined(separator: ", "))")
        }
        guard let name = found.first, found.count == 1, let node = members[name] else { return nil }
        if let signature = members["signature"], name != "promotionalOffer" {
            reader.contradict(signature, "only a promotionalOffer has a signature", hint: "remove it")
        }
        let read: (content: RetentionCase.Content, messages: RetentionMessages)?
        switch name {
        case "alternateProduct": read = readAlternateProduct(node, &reader)
        case "promotionalOffer":
            let form = members["signature"].flatMap { Self.readForm($0, &reader) } ?? .v2
            read = readOffer(node, form, &reader)
            if let condition = (rule ?? nil)?.condition, let reason = Contradictions.ofOffer(condition) {
                reader.contradict(members["rule"] ?? place, "this can never hold: \(reason)", hint: "change the rule")
            }
        default: read = RetentionMessagesReader(app.environments).read(node, &reader).map { (.message, $0) }
        }
        // A case whose rule cannot be read must not count as one without a rule.
        guard let read, rule.map({ $0 != nil }) ?? true else { return nil }
        return RetentionCase(rule: rule ?? nil, content: read.content, messages: read.messages)
    }

    private static func readForm(_ place: RuleNode, _ reader: inout YAMLReader) -> OfferSignatureForm? {
        place.node.scalar.flatMap { OfferSignatureForm(rawValue: $0.string) }
            ?? reader.refuse(place, expected: OfferSignatureForm.allCases.map(\.rawValue).joined(separator: " or "))
    }

    // MARK: Another product

    private func readAlternateProduct(
        _ place: RuleNode, _ reader: inout YAMLReader
    ) -> (content: RetentionCase.Content, messages: RetentionMessages)? {
        let members = reader.members(
            of: place, "alternateProduct", known: ["productID", "message", "billingPlanType"])
        let plan = members["billingPlanType"].map { place in
            place.node.scalar.flatMap { RetentionCase.BillingPlan(rawValue: $0.string) }
                ?? reader.refuse(
                    place,
                    expected: RetentionCase.BillingPlan.allCases.map(\.rawValue).joined(separator: " or "))
        }
        let messages = readMessages(of: members, at: place, &reader)
        guard let productID = readProduct(of: members, at: place, &reader) else { return nil }
        let group = app.products[productID]?.group
        if group == nil {
            reader.contradict(
                place, "\(productID.text) has no subscriptionGroupID, so nobody can change to it",
                hint: "copy it from App Store Connect; the App Store accepts products of the customer's group only")
        } else if !app.products.contains(where: { $0.key != productID && $0.value.group == group }) {
            reader.contradict(
                place, "no other product is in the group of \(productID.text), so nobody can change to it",
                hint: "list the group's other products, without offers if they have none")
        }
        return messages.map { (.alternateProduct(productID, plan ?? nil), $0) }
    }

    // MARK: A promotional offer

    private func readOffer(
        _ place: RuleNode, _ form: OfferSignatureForm, _ reader: inout YAMLReader
    ) -> (content: RetentionCase.Content, messages: RetentionMessages)? {
        let members = reader.members(of: place, "promotionalOffer", known: ["productID", "offerID", "message"])
        let messages = readMessages(of: members, at: place, &reader)
        let productID = readProduct(of: members, at: place, &reader)
        guard let node = required("offerID", of: members, at: place, &reader),
            let offerID = reader.value(
                of: node.node, { text throws(FieldError) in try OfferID(utf8: text) })
        else { return nil }
        guard let productID, let product = app.products[productID] else { return nil }
        if !product.offers.contains(offerID) {
            let offers = product.offers.map(\.text.description).sorted()
            return reader.refuse(
                "\(node.path): \(productID.text) has no offer \(node.found)", at: node.node,
                hint: NearMiss.suggestion(for: offerID.text.description, among: offers)
                    ?? "its offers: \(offers.joined(separator: ", "))")
        }
        guard product.terms.contains(where: { $0.offerID == offerID }) else {
            reader.contradict(
                node,
                "\(offerID.text) has no rule and no limits, so nothing would keep a customer from getting it again and again",
                hint: "write it as {offerID: \(offerID.text), limits: {perCustomer: 1}}")
            return nil
        }
        return messages.map {
            (.promotionalOffer(RetentionCase.Offer(productID: productID, offerID: offerID, form: form)), $0)
        }
    }

    // MARK: Members

    private func readMessages(
        of members: [String: RuleNode], at place: RuleNode, _ reader: inout YAMLReader
    ) -> RetentionMessages? {
        required("message", of: members, at: place, &reader).flatMap {
            RetentionMessagesReader(app.environments).read($0, &reader)
        }
    }

    /// - Returns: a product of the file.
    private func readProduct(
        of members: [String: RuleNode], at place: RuleNode, _ reader: inout YAMLReader
    ) -> ProductID? {
        guard let node = required("productID", of: members, at: place, &reader),
            let productID = reader.value(
                of: node.node, { text throws(FieldError) in try ProductID(utf8: text, field: "productID") })
        else { return nil }
        guard app.products[productID] == nil else { return productID }
        let products = app.products.keys.map(\.text.description).sorted()
        return reader.refuse(
            "\(node.path): the app has no product \(node.found)", at: node.node,
            hint: NearMiss.suggestion(for: productID.text.description, among: products)
                ?? "its products: \(products.joined(separator: ", "))")
    }

    private func required(
        _ name: String, of members: [String: RuleNode], at place: RuleNode, _ reader: inout YAMLReader
    ) -> RuleNode? {
        if members[name] == nil, place.node.mapping != nil {
            reader.contradict(place, "\(name) is missing", hint: "add it")
        }
        return members[name]
    }
}
