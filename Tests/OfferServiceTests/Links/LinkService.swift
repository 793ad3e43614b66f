import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferService

/// A service with the campaign `spring`, whose personal links give the offer `back`, and the campaign `banner`, which has no
/// personal links.
struct LinkService {
    private static func links(holdOut: Double) -> String {
        """
        links:
              teamID: ABCDE12345
              name: Example
              campaigns:
                - {name: spring, offer: {productID: monthly, offerID: back}, title: Come back, holdOut: \(holdOut)}
                - {name: banner, until: 2030-01-01}
        """
    }
    static let offers = """
        {offerID: back, rule: win_back, limits: {perCustomer: 1}}, {offerID: half, rule: {link: [spring, banner]}}
        """
    static let origin = "https://go.example.com"

    let service: StoreService
    let key: LinkKey

    init(holdOut: Double = 0) throws {
        let key = try LinkKey(Secret("a throw-away key for tests"))
        self.key = key
        service = try StoreService(Self.offers, app: "appAppleID: 1234567890\n    \(Self.links(holdOut: holdOut))") {
            $0.links.key = key
            $0.links.origin = Self.origin
        }
    }

    var campaign: Campaign {
        get throws { try #require(service.catalogue.apps[Sample.bundleID]?.rules.links?.campaign("spring")) }
    }

    /// Makes links on day `day` for 10 days.
    func make(
        for customers: [CustomerIdentifier], on day: Double = 1, in app: AppScope = Sample.production
    ) async throws -> [LinkMaker.Made] {
        let maker = try #require(
            LinkMaker(
                try campaign, in: app, under: key, origin: Self.origin, rulesDigest: service.catalogue.digest,
                at: Sample.day(day), lifetime: .hours(240)))
        return try await maker.make(for: customers, in: service.store)
    }

    /// Returns the address of a link to one customer.
    func link(to customer: CustomerIdentifier, on day: Double = 1) async throws -> String {
        guard case .link(let address)? = try await make(for: [customer], on: day).first else {
            throw TestFailure("\(customer) has no link")
        }
        return address
    }

    /// The link of an account.
    func stored(_ account: UInt64) async throws -> MailedLink {
        let found = NIOLockedValueBox<[MailedLink]>([])
        try await service.store.forEachRecord { record throws(StoreError) in
            if case .mailedLink(_, let link) = record { found.withLockedValue { $0.append(link) } }
        }
        return try #require(found.withLockedValue { $0.first { $0.subject.customer == Sample.account(account) } })
    }

    func exposures() async throws -> [Exposure] {
        let found = NIOLockedValueBox<[Exposure]>([])
        try await service.store.forEachRecord { record throws(StoreError) in
            if case .exposure(_, let exposure) = record { found.withLockedValue { $0.append(exposure) } }
        }
        return found.withLockedValue { $0 }
    }

    func decide(_ account: UInt64, _ link: String, sign: String = "false") async throws -> StoreService.Decision {
        try await service.decide(#"\#(StoreService.token(account)),"sign":\#(sign),"link":"\#(link)""#)
    }
}

struct TestFailure: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

extension StoreService.Decision {
    /// What the answer says about the link: the campaign, or the code for which it does not count.
    var link: [String: String] {
        let link = json["link"] as? [String: Any] ?? [:]
        var texts: [String: String] = [:]
        for name in ["campaign", "code"] { texts[name] = link[name] as? String }
        if let counts = link["counts"] as? Bool { texts["counts"] = "\(counts)" }
        return texts
    }
}
