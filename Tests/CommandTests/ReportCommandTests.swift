import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// `offer-signer report` as a process, over a database with exposed customers in it.
@Suite("offer-signer report", .timeLimit(.minutes(5)))
struct ReportCommandTests {
    private let folder: TemporaryFolder

    private static let configuration = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            track: [episodes]
            products:
              - productID: monthly
                subscriptionGroupID: "21012345"
                offers:
                  - offerID: half
                    rule: tried
                  - plain
        rules:
          tried:
            all:
              - share: {of: 0.5, by: spring}
              - everSubscribed: true
        """

    init() async throws {
        folder = try TemporaryFolder()
        try folder.write(Self.configuration.utf8, to: "offers.yaml")
        let store = try #require(StoreLocation("sqlite:\(folder.path)/subscribers.sqlite")).open()
        for number in 1...8 as ClosedRange<UInt64> {
            _ = try await store.reserve(Self.request(number))
            let id = "\(1000 + number)"
            // Those who were offered it renew.
            try await store.merge(
                [
                    Sample.transaction(id, of: id, 0, number % 2 == 1 ? 60 : 30) {
                        $0.appAccountToken = Sample.token(number)
                        $0.storefront = "USA"
                    }
                ], in: Sample.production)
        }
        // Set before it is tracked, and again for some since.
        for number in 1...8 as ClosedRange<UInt64> {
            let episodes = TeamFactValue.number(Array("\(number)".utf8))
            try await store.setTeamFacts(
                [Sample.text("episodes"): episodes], of: Sample.account(number), in: Sample.production,
                tracking: number > 4 ? [Sample.text("episodes")] : [], at: Sample.day(20))
        }
        try store.close()
    }

    /// Every second customer is held out.
    private static func request(_ number: UInt64) -> LedgerRequest {
        let isHeldOut = number % 2 == 0
        let exposure = Sample.exposure(
            of: Sample.account(number), isHeldOut ? .heldOut : .offered, sample: "spring", at: 10)
        let offer = Sample.offer("half", OfferLimits(), nonces: [number], expiresAt: 11, exposures: [exposure])
        let heldOut = LedgerRequest.HeldOutOffer(
            productID: offer.productID, offerID: offer.offerID, limits: OfferLimits(), place: 0, exposures: [exposure])
        return LedgerRequest(
            app: Sample.production, facts: [], holders: [Sample.account(number)], offers: isHeldOut ? [] : [offer],
            reserving: .all, heldOut: isHeldOut ? [heldOut] : [], at: Sample.day(10))
    }

    private func run(_ arguments: String...) throws -> Command.Outcome { try run(arguments) }

    private func run(_ arguments: [String]) throws -> Command.Outcome {
        let time = String(decoding: Sample.day(50).iso8601, as: UTF8.self)
        return try Command.runOfferSigner(
            ["report"] + arguments + ["--as-of", time],
            environment: [
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
            ], directory: folder.url)
    }

    @Test("the JSON has the arms, the planned share of the rule, and the same bytes each time")
    func json() throws {
        let outcome = try run("half", "--format", "json")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let text = outcome.standardOutput
        let offer = #""bundleID":"com.example.app","environment":"Production","productID":"monthly","offerID":"half""#
        #expect(text.contains(#""offer":{\#(offer),"sample":"spring"}"#))
        #expect(text.contains(#""exposed":{"offered":4,"heldOut":4}"#))
        #expect(text.contains(#""plannedShare":0.500000"#))
        #expect(text.contains(#""effect":{"day":30,"offered":{"count":4,"customers":4,"share":1.000000"#))
        #expect(text.contains(#""heldOut":{"count":0,"customers":4,"share":0.000000"#))
        #expect(try run("half", "--format", "json").standardOutput == text)
    }

    @Test("the HTML stands alone, and says the same as the JSON")
    func html() throws {
        let outcome = try run("half")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let text = outcome.standardOutput
        #expect(text.hasPrefix("<!doctype html>") && text.hasSuffix("</html>\n"))
        #expect(!text.contains("<script") && !text.contains(" href=") && !text.contains(" src="))
        #expect(text.contains("Not clear yet: "))
        #expect(text.contains("<b>100.0 points</b>"))
    }

    @Test("the HTML opens in a browser without a network, and a strict reader accepts the CSV")
    func opened() throws {
        var files: [String] = []
        for (name, arguments) in [("offer", ["half"]), ("subscriptions", ["--subscriptions"])] {
            for format in ["html", "csv"] {
                let outcome = try run(arguments + ["--format", format])
                #expect(outcome.status == 0, "\(outcome.standardError)")
                try folder.write(outcome.standardOutput.utf8, to: "\(name).\(format)")
                files.append("\(folder.path)/\(name).\(format)")
            }
        }
        let script = MarkdownBlock.repository.appending(path: "scripts/console-browser").path
        let outcome = try Command.run(script, ["--mailed"] + files)
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix("4 files, ") && outcome.standardOutput.hasSuffix(" 0 faults\n"))
    }

    @Test("the CSV has one number in each line")
    func csv() throws {
        let lines = try run("half", "--format", "csv").standardOutput.split(separator: "\r\n")
        #expect(lines.first == "table,row,arm,number,value,lower,upper,customers")
        #expect(lines.contains { $0.hasPrefix("effect,30,offered,access,1.000000,") })
        // Odd numbers were offered it, and the others held out.
        for line in [
            "offered,mean,4.000000,,,4", "held_out,mean,5.000000,,,4", "offered,with_fact,1.000000,0.510109,1.000000,4",
        ] {
            #expect(lines.contains { $0 == "engagement,episodes,\(line)" }, "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("engagement,episodes,difference_once,mean,-1.000000,") })
        let time = String(decoding: Sample.day(50).iso8601, as: UTF8.self)
        #expect(lines.contains { $0 == "report,\(time),,as_of,,,," })
        #expect(lines.contains { $0.hasPrefix("trust,,,planned_share,0.500000") })
    }

    @Test("an offer without a rule has a report without a comparison")
    func plain() throws {
        let outcome = try run("plain", "--format", "json")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains(#""sample":null"#))
        #expect(outcome.standardOutput.contains("Nothing can be said about the effect"))
    }

    @Test("the data counts up to a date or a time that is not in the future")
    func asOf() throws {
        func run(_ time: String) throws -> Command.Outcome {
            try Command.runOfferSigner(
                ["report", "half", "--format", "json", "--as-of", time],
                environment: [
                    "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                    "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
                ], directory: folder.url)
        }
        let date = try run("2024-01-20")
        #expect(date.status == 0, "\(date.standardError)")
        let time = try run("2024-01-20T00:00:00Z")
        #expect(date.standardOutput == time.standardOutput)
        for (text, problem) in [
            ("9999-01-01", "must not be in the future"), ("tomorrow", "must be a date or a time, such as 2026-11-20"),
        ] {
            let outcome = try run(text)
            #expect(outcome.status == 64)
            #expect(outcome.standardError.contains(problem))
        }
    }

    @Test("an unknown offer is named, with a hint")
    func unknown() throws {
        let outcome = try run("nothing")
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("the configuration file has no offer nothing"))
    }

    @Test("the days that differ from Apple's report are listed, and a wrong file is named with its line")
    func compare() throws {
        let head = "Event Date\tEvent\tApp Apple ID\tQuantity\n"
        // All eight subscriptions began on one day, and four of them ended.
        try folder.write(
            (head + "2025-10-09\tSubscribe\t1234567890\t7\n2025-10-09\tSubscribe\t99\t5\n").utf8, to: "one.txt")
        try folder.write((head + "2025-11-08\tCancel\t1234567890\t4\n").utf8, to: "two.txt")
        let arguments = ["--subscriptions", "--time-zone", "pacific", "--compare", folder.path + "/one.txt"]
        func run(_ more: String...) throws -> Command.Outcome {
            try Command.runOfferSigner(
                ["report"] + arguments + more,
                environment: [
                    "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                    "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:\(folder.path)/subscribers.sqlite",
                ], directory: folder.url)
        }
        let csv = try run("--compare", folder.path + "/two.txt", "--format", "csv")
        #expect(csv.status == 0, "\(csv.standardError)")
        let lines = csv.standardOutput.split(separator: "\r\n")
        #expect(lines.filter { $0.hasPrefix("day,") } == ["day,2025-10-09,new,7,8,missing_at_apple"])
        #expect(lines.contains("total,,cancelled,4,4,"))
        let html = try run().standardOutput
        #expect(html.hasPrefix("<!doctype html>") && !html.contains("<script") && !html.contains(" href="))
        #expect(html.contains("The day 2025-10-09: 1 day differs.") && html.contains("Lines about other apps: 1."))
        try folder.write((head + "2025-11-08\tCancel\t1234567890\n").utf8, to: "wrong.txt")
        let wrong = try run("--compare", folder.path + "/wrong.txt")
        #expect(wrong.status == 1)
        #expect(wrong.standardError.contains("wrong.txt: line 2: the line has 3 columns, and the head has 4"))
    }

    @Test("the report about subscriptions has all of the app, in each format")
    func subscriptions() throws {
        let json = try run("--subscriptions", "--format", "json")
        #expect(json.status == 0, "\(json.standardError)")
        #expect(
            json.standardOutput.contains(
                #""span":"month","timeZone":"utc","groups":[{"by":"all","name":"","now":{"active":4,"#))
        let csv = try run("--subscriptions", "--format", "csv", "--time-zone", "pacific", "--cohorts", "week")
        #expect(csv.standardOutput.contains("now,storefront,USA,,,active,4,,,\r\n"))
        #expect(csv.standardOutput.contains("report,,pacific,,,time_zone,,,,\r\n"))
        let html = try run("--subscriptions").standardOutput
        #expect(html.hasPrefix("<!doctype html>") && !html.contains("<script") && !html.contains(" href="))
        #expect(html.contains("<h2>All subscriptions</h2>"))
        for arguments in [
            ["half", "--subscriptions"], [], ["--subscriptions", "--sample", "spring"],
            ["half", "--compare", "a.txt"], ["--subscriptions", "--compare", "a.txt", "--cohorts", "week"],
        ] {
            let outcome = try Command.runOfferSigner(["report"] + arguments, environment: [:], directory: folder.url)
            #expect(outcome.status == 64, "\(arguments)")
        }
    }
}
