package import OfferCore

/// An app's configuration of links, which lead customers from a mailing to an offer.
package struct LinkPolicy: Hashable, Sendable {
    /// The prefix of the app's identifiers, ten letters and digits, with which a device checks that links are the app's.
    package let teamID: String
    /// The app's name on the pages of links.
    package let appName: String
    /// The campaigns, in file order.
    package let campaigns: [Campaign]

    package init(teamID: String, appName: String, campaigns: [Campaign]) {
        self.teamID = teamID
        self.appName = appName
        self.campaigns = campaigns
    }

    package func campaign(_ name: String) -> Campaign? { campaigns.first { $0.name == name } }
}

/// A campaign: a mailing or an advertisement whose links lead to an offer.
package struct Campaign: Hashable, Sendable {
    /// The name in links and rules. No two apps have a campaign with the same name.
    package let name: String
    /// The offer that a personal link gives; nil if the campaign has no personal links.
    package let offer: Offer?
    /// The share of customers whom the mailing leaves out, from 0 up to 1. Reports compare it with those who got links.
    package let holdOut: Double
    package let page: Page
    /// The time at which the links end; nil if they do not.
    package let until: Timestamp?

    package init(
        name: String, offer: Offer? = nil, holdOut: Double = 0, page: Page = Page(), until: Timestamp? = nil
    ) {
        self.name = name
        self.offer = offer
        self.holdOut = holdOut
        self.page = page
        self.until = until
    }

    package struct Offer: Hashable, Sendable {
        package let productID: ProductID
        package let offerID: OfferID

        package init(productID: ProductID, offerID: OfferID) {
            self.productID = productID
            self.offerID = offerID
        }
    }

    /// The words on the page of a link. Each is nil for the usual words.
    package struct Page: Hashable, Sendable {
        package let title: String?
        package let text: String?
        /// The words on the button that leads to the App Store.
        package let button: String?
        /// The language of the words (BCP 47).
        package let language: String
        /// The storefront whose prices the page states, a three-letter code; nil for no price.
        package let storefront: String?

        package init(
            title: String? = nil, text: String? = nil, button: String? = nil, language: String = "en",
            storefront: String? = nil
        ) {
            self.title = title
            self.text = text
            self.button = button
            self.language = language
            self.storefront = storefront
        }
    }

    package func hasEnded(at now: Timestamp) -> Bool { until.map { now >= $0 } ?? false }

    /// The permitted length of a name in bytes.
    package static let nameSizes = 1...32

    /// Returns true for small letters, digits and hyphens, which no mail program changes in an address.
    package static func isName(_ text: String) -> Bool {
        nameSizes.contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }

    /// The sample that divides the customers of the mailing for reports. No `share` may have it.
    package var sample: String { Self.samplePrefix + name }

    package static let samplePrefix = "link:"
}
