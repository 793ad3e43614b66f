import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferService

@Suite("Exposures")
struct ExposureTests {
    private static let half = "{all: [{rule: retention}, {share: {of: 0.5, by: test}}]}"
    private static let otherHalf = "{all: [{rule: retention}, {not: {share: {of: 0.5, by: test}}}]}"

    /// Adds a subscriber who has turned auto-renew off, with an account and an Apple Account of the same number.
    private static func add(_ number: UInt64, to service: StoreService) async throws {
        try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false) {
            $0.appTransactionID = Sample.id("a\(number)")
        }
    }

    @Test("every signed and every held-out customer has one exposure, however often they ask")
    func arms() async throws {
        let service = try StoreService("{offerID: keep, rule: \(Self.half)}")
        var signed: [String: Bool] = [:]
        for number in 1...20 as ClosedRange<UInt64> {
            try await Self.add(number, to: service)
            for _ in 1...3 {
                let decision = try await service.decide(StoreService.token(number))
                let isSigned = decision.signed == ["keep"]
                #expect(isSigned || decision.refused["keep"] == ["holdout"], "\(number)")
                signed["a\(number)"] = isSigned
            }
        }
        #expect(Set(signed.values) == [true, false])
        let exposures = try await service.exposures()
        #expect(exposures.count == 20)
        for exposure in exposures {
            guard case .appTransactionID(let id)? = exposure.customer else {
                Issue.record("not recorded under the Apple Account")
                continue
            }
            #expect(exposure.arm == (signed[id.text.description] == true ? .offered : .heldOut))
            #expect(exposure.place?.sample == "test")
            #expect(exposure.place?.isInSample == (exposure.arm == .offered))
            #expect(exposure.source == OfferSource(rule: nil, channel: .decision))
            #expect(exposure.rulesDigest == service.catalogue.digest && exposure.at == Sample.day(10))
        }
        let scrape = service.routes.scrape()
        #expect(scrape.sum(of: "offer_signer_exposures_total") == 20)
        let sources = try await service.authorisations(of: (1...20).map(Sample.account)).map(\.source)
        #expect(Set(sources) == [exposures[0].source])
    }

    @Test("the other routes expose too, and a look-up shows it")
    func routes() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await Self.add(1, to: service)
        let body = #"{"bundleID":"com.example.app","productID":"monthly","offerID":"keep",\#(StoreService.token())}"#
        #expect(await service.routes.postLater("/v1/promotional-offers", body).status == 200)
        let exposures = try await service.exposures()
        #expect(exposures.map(\.arm) == [.offered] && exposures.map(\.place) == [nil])
        let lookup = await service.post("/v1/customers/lookup", StoreService.token())
        #expect(
            lookup.text.contains(
                #""exposures":[{"offerID":"keep","productID":"monthly","arm":"offered","at":\#(Sample.day(10).milliseconds),"#
                    + #""rule":"retention","channel":"decision"}]"#), "\(lookup.text)")
    }

    @Test("nothing is recorded without a signature, or for a customer whom anything else refuses")
    func notExposed() async throws {
        for number in 1...8 as ClosedRange<UInt64> {
            let service = try StoreService(
                """
                {offerID: keep, rule: \(Self.half), limits: {cooldown: 400d}}, {offerID: back, rule: win_back}
                """)
            try await Self.add(number, to: service)
            _ = try await service.decide(StoreService.token(number) + #","sign":false"#)
            #expect(try await service.exposures() == [])
            try await service.store.merge(
                [
                    Sample.transaction("\(2000 + number)", of: "\(1000 + number)", -30, 0) {
                        $0.offer = AppliedOffer(type: .promotional, identifier: "keep", discountType: .payUpFront)
                        $0.appAccountToken = Sample.token(number)
                    }
                ], in: Sample.production)
            let decision = try await service.decide(StoreService.token(number))
            #expect(decision.signed == [] && decision.refused["back"] != nil)
            #expect(try await service.exposures() == [], "the cooldown refuses it, whatever the arm")
        }
    }

    @Test("if only the best offer is signed, a customer is held out only of offers that are better")
    func onlyTheBest() async throws {
        var arms: Set<[String: Exposure.Arm]> = []
        for number in 1...8 as ClosedRange<UInt64> {
            let service = try StoreService(
                """
                {offerID: first, rule: \(Self.half), priority: 3}, {offerID: second, rule: retention, priority: 2},
                {offerID: third, rule: \(Self.otherHalf), priority: 1}
                """)
            try await Self.add(number, to: service)
            let decision = try await service.decide(StoreService.token(number))
            let best = try await service.arms()
            arms.insert(best)
            #expect(
                best == (decision.signed == ["first"] ? ["first": .offered] : ["first": .heldOut, "second": .offered]))
            _ = try await service.decide(StoreService.token(number) + #","sign":true"#)
            let isIn = decision.signed == ["first"]
            #expect(
                try await service.arms() == [
                    "first": isIn ? .offered : .heldOut, "second": .offered, "third": isIn ? .heldOut : .offered,
                ])
        }
        #expect(arms.count == 2)
    }

    @Test("an account with purchases of two Apple Accounts is not recorded under one of them")
    func twoAppleAccounts() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}")
        try await Self.add(1, to: service)
        // Another person bought on the same device, under the customer's account.
        try await service.addSubscriber("2000", account: 1, autoRenew: false) { $0.appTransactionID = Sample.id("a2") }
        _ = try await service.decide()
        #expect(try await service.exposures().map(\.customer) == [Sample.account(1)])
        // Known without an account, the same customer is not recorded again.
        _ = try await service.decide(#""applicationUsername":"","transactionID":"1001""#)
        #expect(try await service.exposures().count == 1)
    }

    @Test("the first place stays, even if proofs bring the Apple Account and would change it")
    func firstPlaceStaysWithProofs() async throws {
        var changes = 0
        for number in 1...12 {
            let service = try StoreService("{offerID: keep, rule: \(Self.half)}")
            try await service.addSubscriber("\(1000 + number)", account: 1, autoRenew: false)
            try await service.store.merge(
                [Sample.history(of: "\(1000 + number)", at: Sample.day(9.9))], in: Sample.production)
            let first = try await service.decide()
            let proofs = try DecisionProofTests.proofs(
                [DecisionProofTests.transaction("\(1000 + number)", account: 1, appleAccount: "\(700 + number)")],
                [
                    DecisionProofTests.renewal("\(1000 + number)", account: 1)
                        .with("appTransactionId", "\"\(700 + number)\"")
                ])
            for _ in 1...2 {
                let later = try await service.decide(StoreService.token() + "," + proofs)
                #expect(later.response.status == 200 && later.signed == first.signed, "\(later.response.text)")
            }
            #expect(try await service.exposures().count == 1)
            #expect(service.routes.scrape().sum(of: "offer_signer_exposures_total") == 1)
            let fresh = try StoreService("{offerID: keep, rule: \(Self.half)}")
            if try await fresh.decide(StoreService.token() + "," + proofs).signed != first.signed { changes += 1 }
        }
        #expect(changes > 0, "otherwise the places would not have changed anyway")
    }

    @Test("another person's place does not count for the account that was used on their device")
    func anothersPlace() async throws {
        var (held, offered): (UInt64?, UInt64?)
        for number in 1...20 as ClosedRange<UInt64> where held == nil || offered == nil {
            let service = try StoreService("{offerID: keep, rule: \(Self.half)}")
            try await Self.add(number, to: service)
            if try await service.decide(StoreService.token(number)).signed.isEmpty {
                held = number
            } else {
                offered = number
            }
        }
        let (customer, other) = (try #require(held), try #require(offered))
        let service = try StoreService("{offerID: keep, rule: \(Self.half)}")
        try await Self.add(other, to: service)
        try await Self.add(customer, to: service)
        #expect(try await service.decide(StoreService.token(other)).signed == ["keep"])
        service.setDay(11)
        #expect(try await service.decide(StoreService.token(customer)).signed == [])
        // The other person also has an older purchase without an account.
        try await service.addSubscriber("100", account: nil) { $0.appTransactionID = Sample.id("a\(other)") }
        // The customer buys once on the other person's device, later than anything else.
        try await service.addSubscriber("5000", account: customer, autoRenew: false) {
            $0.appTransactionID = Sample.id("a\(other)")
        }
        for original in ["100", "5000", "\(1000 + customer)"] {
            try await service.store.merge([Sample.history(of: original, at: Sample.day(11))], in: Sample.production)
        }
        #expect(try await service.decide(StoreService.token(customer)).signed == [])
        let lookup = await service.post("/v1/customers/lookup", StoreService.token(customer))
        #expect(lookup.text.contains(#""arm":"held_out""#) && !lookup.text.contains(#""arm":"offered""#))
    }

    @Test("a signature that is not sent leaves no exposure, and neither does a held-out offer that nobody could sign")
    func notSent() async throws {
        let service = try StoreService("{offerID: keep, rule: retention}", hasIssuerID: false)
        try await Self.add(1, to: service)
        let pair = service.pair
        let faulty = try TestService(
            pair: StubKeyPair(sign: { _ in try pair.sign([]) }, verify: pair.verify), catalogue: service.catalogue,
            store: service.current)
        faulty.setTime(Sample.day(10))
        let body = #"{"bundleID":"com.example.app",\#(StoreService.token())}"#
        #expect(await faulty.postLater("/v1/decisions", body).status == 503)
        #expect(try await service.authorisations().map(\.state) == [.withdrawn])
        #expect(try await service.exposures() == [])
        #expect(try await service.decide().signed == ["keep"])
        #expect(try await service.exposures().count == 1)
        // In the sandbox, an offer needs a JWS, and so an issuer ID.
        for number in 1...8 as ClosedRange<UInt64> {
            let sandbox = try StoreService("{offerID: keep, rule: \(Self.half)}", hasIssuerID: false)
            try await sandbox.addSubscriber("\(1000 + number)", account: number, autoRenew: false, in: Sample.sandbox) {
                $0.appTransactionID = Sample.id("a\(number)")
            }
            _ = try await sandbox.decide(StoreService.token(number))
            #expect(try await sandbox.exposures() == [])
        }
    }

    @Test("a customer held out by two samples is recorded in both")
    func twoSamples() async throws {
        let rule = "{all: [{rule: retention}, {share: {of: 0.5, by: one}}, {not: {share: {of: 0.5, by: two}}}]}"
        var (offered, heldOut) = (0, 0)
        for number in 1...20 as ClosedRange<UInt64> {
            let service = try StoreService("{offerID: keep, rule: \(rule)}")
            try await Self.add(number, to: service)
            _ = try await service.decide(StoreService.token(number))
            let exposures = try await service.exposures()
            #expect(
                exposures.compactMap(\.place?.sample).sorted() == ["one", "two"] && Set(exposures.map(\.arm)).count == 1
            )
            if exposures.first?.arm == .offered { offered += 1 } else { heldOut += 1 }
        }
        #expect(offered > 0 && heldOut > offered)
    }

    @Test("a placement is tested by rules, kept in exposures, and unknown if the request does not name it")
    func placement() async throws {
        let service = try StoreService(
            """
            {offerID: keep, rule: {all: [{rule: retention}, {placement: [cancel, exit]}]}},
            {offerID: other, rule: {all: [{rule: retention}, {not: {placement: cancel}}]}}
            """)
        try await Self.add(1, to: service)
        let unnamed = try await service.decide()
        #expect(unnamed.refused == ["keep": ["unknown"], "other": ["unknown"]])
        #expect(unnamed.response.text.contains(#""missing":"placement""#))
        let settings = try await service.decide(StoreService.token() + #","placement":"settings""#)
        #expect(settings.signed == ["other"] && settings.refused == ["keep": ["placement"]])
        let cancel = try await service.decide(StoreService.token() + #","placement":"cancel""#)
        #expect(cancel.signed == ["keep"] && cancel.refused == ["other": ["placement"]])
        #expect(try await service.exposures().map(\.placement) == ["cancel", "settings"])
        let tooLong = [String(repeating: "a", count: 65), String(repeating: "a", count: 63) + "é"].map { "\"\($0)\"" }
        for value in [#""""#, "1"] + tooLong {
            let refused = await service.post("/v1/decisions", StoreService.token() + #","placement":\#(value)"#)
            #expect(refused.status == 422 || refused.status == 400, "\(value)")
        }
        // 64 bytes, of which the last two are one letter.
        for value in ["a", String(repeating: "a", count: 64), String(repeating: "a", count: 62) + "é"] {
            let accepted = try await service.decide(StoreService.token() + #","placement":"\#(value)""#)
            #expect(accepted.response.status == 200, "\(value)")
        }
        // Offers of one list may have different placements.
        let offers = ["cancel", "settings"].map { placement in
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"keep","placement":"\#(placement)","#
                + "\(StoreService.token())}"
        }
        let list = await service.routes.postLater(
            "/v1/promotional-offers", #"{"offers":[\#(offers.joined(separator: ","))]}"#)
        #expect(list.text.contains(#""keyID""#) && list.text.contains("not_eligible"), "\(list.text)")
    }

    @Test("a customer keeps the first place in a sample, even when the Apple Account becomes known")
    func firstPlaceStays() async throws {
        var changes = 0
        for number in 1...12 as ClosedRange<UInt64> {
            let service = try StoreService("{offerID: keep, rule: \(Self.half)}")
            let original = "\(1000 + number)"
            try await service.addSubscriber(original, account: number, autoRenew: false)
            try await service.store.merge(
                [Sample.history(of: original, at: Sample.day(9.9))], in: Sample.production)
            let first = try await service.decide(StoreService.token(number))
            #expect(first.response.status == 200 && first.refused["keep"] ?? ["holdout"] == ["holdout"])
            // Now the App Store names the Apple Account, by which a new customer would be drawn.
            try await service.addSubscriber(original, account: number, autoRenew: false, signed: 5) {
                $0.appTransactionID = Sample.id("a\(number)")
            }
            let later = try await service.decide(StoreService.token(number))
            #expect(later.signed == first.signed)
            #expect(try await service.exposures().count == 1)
            let fresh = try StoreService("{offerID: keep, rule: \(Self.half)}")
            try await Self.add(number, to: fresh)
            if try await fresh.decide(StoreService.token(number)).signed != first.signed { changes += 1 }
        }
        #expect(changes > 0, "otherwise the places would not have changed anyway")
    }

    @Test("an introductory offer has exposures too, without an offer ID")
    func introductoryOffers() async throws {
        var arms: Set<Exposure.Arm> = []
        for number in 1...8 as ClosedRange<UInt64> {
            let service = try StoreService(
                "{offerID: keep, rule: retention}",
                app: "appAppleID: 1234567890\n    introductoryOffers: {rule: {share: {of: 0.5, by: test}}}")
            try await Self.add(number, to: service)
            let members = #""productID":"monthly","transactionID":"\#(1000 + number)""#
            for _ in 1...2 { #expect(await service.post("/v1/introductory-offers", members).status == 200) }
            let exposures = try await service.exposures()
            #expect(
                exposures.count == 1 && exposures[0].offerID == nil && "\(exposures[0].productID.text)" == "monthly")
            arms.formUnion(exposures.map(\.arm))
        }
        #expect(arms == [.offered, .heldOut])
    }

    @Test("the introductory offer of a customer who has bought nothing is recorded under the Apple Account")
    func newCustomer() async throws {
        let service = try StoreService(
            "{offerID: keep, rule: retention}",
            app: "appAppleID: 1234567890\n    introductoryOffers: {rule: {date: {from: 2000-01-01}}}")
        let members = #""productID":"monthly","transactionID":"704897469903278336""#
        let unknown = await service.post("/v1/introductory-offers", members)
        #expect(unknown.status == 200, "\(unknown.text)")
        #expect(try await service.exposures() == [], "the ID may be anything")
        let proof = try DecisionProofTests.jws(SamplePayload.appTransaction)
        for _ in 1...2 {
            let answer = await service.post(
                "/v1/introductory-offers", members + #","proofs":{"signedAppTransaction":\#(proof)}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }
        let appleAccount = CustomerIdentifier.appTransactionID(Sample.id("704897469903278336"))
        #expect(try await service.exposures().map(\.customer) == [appleAccount])
    }

    @Test("a retention message exposes the customer, and so does its absence because of a sample")
    func retention() async throws {
        var arms: Set<Exposure.Arm> = []
        for number in 1...8 as ClosedRange<UInt64> {
            let service = try StoreService.retention(
                """
                - rule: \(Self.half)
                  promotionalOffer: {productID: monthly, offerID: keep, message: \(Retention.message(1))}
                - message: {default: \(Retention.message(5))}
                """)
            try await service.addSubscriber(autoRenew: false) { $0.appTransactionID = Sample.id("a\(number)") }
            let answers = [
                try await service.message(Retention.Request(1)), try await service.message(Retention.Request(2)),
            ]
            let isShown = answers[0].text.contains("promotionalOffer")
            let exposures = try await service.exposures()
            #expect(exposures.map(\.arm) == [isShown ? .offered : .heldOut])
            #expect(exposures.map(\.source.channel) == [.retention])
            let shown = try await service.retentionShown()
            #expect(shown.count == 2 && Set(shown.map(\.requestIdentifier)).count == 2)
            for shown in shown {
                #expect(shown.answer == (isShown ? "promotional_offer" : "message") && shown.reason == "rules")
                #expect(shown.subject == .subscription(Sample.id("1000")) && shown.at == Sample.day(10))
                #expect(shown.messageIdentifier?.description == Retention.message(isShown ? 1 : 5))
                #expect(shown.offerID?.text.description == (isShown ? "keep" : nil))
            }
            arms.formUnion(exposures.map(\.arm))
        }
        #expect(arms == [.offered, .heldOut])
    }
}

extension StoreService {
    /// All exposures in the database.
    func exposures() async throws -> [Exposure] {
        let found = NIOLockedValueBox<[Exposure]>([])
        try await store.forEachRecord { record in
            if case .exposure(_, let exposure) = record { found.withLockedValue { $0.append(exposure) } }
        }
        return found.withLockedValue { $0 }
    }

    /// The recorded answers to the App Store. Each is written after the answer, so this waits for as many as expected.
    fileprivate func retentionShown(_ count: Int = 2) async throws -> [RetentionShown] {
        let found = NIOLockedValueBox<[RetentionShown]>([])
        for _ in 0..<1000 where found.withLockedValue({ $0.count < count }) {
            found.withLockedValue { $0 = [] }
            try await store.forEachRecord { record in
                if case .retentionShown(_, let shown) = record { found.withLockedValue { $0.append(shown) } }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return found.withLockedValue { $0 }
    }

    fileprivate func arms() async throws -> [String: Exposure.Arm] {
        Dictionary(
            try await exposures().map { ($0.offerID?.text.description ?? "", $0.arm) }, uniquingKeysWith: { $1 })
    }
}
