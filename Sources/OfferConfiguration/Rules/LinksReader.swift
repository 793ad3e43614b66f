import OfferCore
import OfferEligibility

/// Reads the `links` of an app: its campaigns, and what their pages say.
enum LinksReader {
    static func read(_ value: YAMLValue, of app: RetentionReader.App) -> LinkPolicy? {
        let members = value.members(
            "links", known: ["teamID", "name", "campaigns"], required: ["teamID", "name", "campaigns"])
        let teamID = members["teamID"]?.string(
            "this is not a team ID", hint: "copy its ten letters and digits from your account at developer.apple.com"
        ) { text in
            text.utf8.count == 10 && text.utf8.allSatisfy(\.isASCIIAlphanumeric) ? text : nil
        }
        let name = members["name"].flatMap { text($0, of: 1...100) }
        var campaigns: [Campaign] = []
        for item in members["campaigns"]?.list("campaigns") ?? [] {
            guard let campaign = readCampaign(item, of: app) else { continue }
            if campaigns.contains(where: { $0.name == campaign.name }) {
                item.report("this campaign is a duplicate", hint: "remove one")
            }
            campaigns.append(campaign)
        }
        guard let teamID, let name else { return nil }
        return LinkPolicy(teamID: teamID, appName: name, campaigns: campaigns)
    }

    private static func readCampaign(_ value: YAMLValue, of app: RetentionReader.App) -> Campaign? {
        let members = value.members(
            "a campaign",
            known: ["name", "offer", "holdOut", "until", "title", "text", "button", "language", "storefront"],
            required: ["name"])
        let name = members["name"]?.string(
            "this is not the name of a campaign",
            hint: "up to 32 small letters, digits and hyphens, such as spring-2027"
        ) { Campaign.isName($0) ? $0 : nil }
        if let holdOut = members["holdOut"], members["offer"] == nil {
            holdOut.report("only personal links have a holdOut", hint: "add the offer of the campaign")
        }
        let page = Campaign.Page(
            title: members["title"].flatMap { text($0, of: 1...200) },
            text: members["text"].flatMap { text($0, of: 1...2_000) },
            button: members["button"].flatMap { text($0, of: 1...60) },
            language: members["language"]?.string(
                "this is not a language", hint: "write it like en or pt-BR (BCP 47)"
            ) { text in
                (2...35).contains(text.utf8.count)
                    && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") } ? text : nil
            } ?? "en",
            storefront: members["storefront"]?.string(
                "this is not a storefront", hint: "write its three-letter code, such as USA"
            ) { text in
                text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
                    ? text : nil
            })
        let offer = members["offer"].flatMap { readOffer($0, of: app, for: name) }
        let holdOut =
            members["holdOut"]?.string(
                "holdOut must be a share from 0 up to 0.9", hint: "write 0.1 to leave out one of ten customers"
            ) { text in
                Double(text).flatMap { (0...0.9).contains($0) ? $0 : nil }
            } ?? 0
        let until = members["until"]?.string(
            "this is not a time", hint: "write it like 2027-01-31 or 2027-01-31T18:00:00Z"
        ) { Timestamp(dateOrTime: $0) }
        guard let name else { return nil }
        return Campaign(name: name, offer: offer, holdOut: holdOut, page: page, until: until)
    }

    private static func readOffer(
        _ value: YAMLValue, of app: RetentionReader.App, for name: String?
    ) -> Campaign.Offer? {
        let members = value.members(
            "the offer of a campaign", known: ["productID", "offerID"], required: ["productID", "offerID"])
        let productID = members["productID"]?.identifier { utf8 throws(FieldError) in
            try ProductID(utf8: utf8, field: "productID")
        }
        let offerID = members["offerID"]?.identifier { utf8 throws(FieldError) in try OfferID(utf8: utf8) }
        guard let productID, let offerID else { return nil }
        guard let product = app.products[productID], product.terms.contains(where: { $0.offerID == offerID }) else {
            return value.refuse(
                "no product of the app has this offer with a rule or limits",
                hint:
                    "every customer gets an offer without a rule, so give it one that does not test the link of this campaign"
            )
        }
        if product.terms.contains(where: { $0.offerID == offerID && $0.rule.condition.campaigns.contains(name ?? "") })
        {
            value.report(
                "the rule of the offer tests the link of this campaign, so everybody who opens it would have the offer, "
                    + "and more than once",
                hint: "give the offer another rule; a personal link replaces it")
        }
        return Campaign.Offer(productID: productID, offerID: offerID)
    }

    private static func text(_ value: YAMLValue, of sizes: ClosedRange<Int>) -> String? {
        guard let text = value.text, sizes.contains(text.utf8.count), text.printable == text else {
            return value.refuse(
                "this is not a text of up to \(sizes.upperBound) bytes",
                hint: "shorten it, and remove control characters")
        }
        return text
    }
}
