import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Trying rules in the console")
struct RulesPageTests {
    /// The rule also reaches customers with auto-renew.
    private static let newFile = TestConsole.configuration.replacing(", autoRenew: off", with: "")

    /// A console with three customers, of whom one has turned auto-renew off.
    private static func console() async throws -> TestConsole {
        let console = try await TestConsole()
        for number in 1...3 as ClosedRange<UInt64> {
            let id = "900000000000\(number)"
            let transaction = Sample.transaction(id, of: id, 0, 30) {
                $0.ownership = .purchased
                $0.appAccountToken = Sample.token(number)
            }
            let renewal = Sample.renewal(of: id, signed: 1) {
                let product = $0.productID
                $0 = Renewal(productID: product, autoRenewStatus: number == 1 ? .off : .on)
                $0.autoRenewProductID = product
            }
            try await console.store.merge([transaction, renewal], in: Sample.production)
        }
        return console
    }

    /// Runs the trials until the one at the address has ended.
    private static func result(_ console: TestConsole, _ address: String, _ cookie: String) async throws -> HTTPResponse
    {
        let trials = try #require(console.trials)
        let running = Task { try await trials.run() }
        defer { running.cancel() }
        while true {
            let page = await console.get(address, cookie: cookie)
            if page.values(of: "Refresh").isEmpty { return page }
            await Task.yield()
        }
    }

    @Test("the page says that the sizes of samples are not checked while the database does not answer")
    func unknownSizes() {
        let rule = "{subscription: {status: active, autoRenew: off}}"
        let sampled = TestConsole.configuration.replacing(rule, with: "{all: [\(rule), {share: {of: 0.5, by: s}}]}")
        func page(_ text: String, _ drawn: [SampleSize]?) -> String {
            let view = RulesView(
                frame: PageFrame(person: nil, clock: .utc, version: "1"), now: Sample.day(1), text: "",
                check: RulesCheck(text, drawn: drawn).view, refusal: nil, trials: [])
            return String(decoding: view.html.utf8, as: UTF8.self)
        }
        let warning = "the sizes of samples are not checked"
        #expect(page(sampled, nil).contains(warning))
        #expect(!page(sampled, []).contains(warning) && !page(TestConsole.configuration, nil).contains(warning))
    }

    @Test("problems stand at their lines, with the text of the line, and the form keeps the file")
    func problems() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["marketing"])
        let broken = "\n" + TestConsole.configuration.replacing("rule: leaving", with: "rule: <leaveing>")
        for (name, other) in [("text", "file"), ("file", "text")] {
            let answer = await console.upload("/rules", [name: broken, other: "", "do": "try"], cookie: cookie)
            #expect(answer.status == 400)
            #expect(answer.text.contains("The file has 1 problem."))
            #expect(answer.text.contains("Line 9</span> <code><bdi>- {offerID: stay, rule: &lt;leaveing&gt;"))
            #expect(answer.text.contains("there is no rule &quot;&lt;leaveing&gt;&quot;"))
            #expect(answer.text.contains("aria-invalid=\"true\">\n\napps:\n  - bundleID"))
        }
        for (text, words) in [("", "Paste a configuration file"), ("apps: [", "not YAML"), ("# nothing", "is empty")] {
            let answer = await console.upload("/rules", ["text": text, "file": "", "do": "check"], cookie: cookie)
            #expect(answer.status == 400 && answer.text.contains(words), "\(text)")
        }
        #expect(try #require(console.trials).all.isEmpty)
        #expect(try console.auditLines().contains { $0.contains("console_rules") } == false)
    }

    @Test("a check lists the offers and the warnings, and starts nothing")
    func check() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        let answer = await console.upload("/rules", ["text": Self.newFile, "file": "", "do": "check"], cookie: cookie)
        #expect(answer.status == 200 && answer.text.contains("The rules are consistent"))
        #expect(answer.text.contains("stay") && answer.text.contains("<b><bdi>leaving</bdi></b>"))
        #expect(try #require(console.trials).all.isEmpty)
    }

    @Test("a trial runs after the form was answered, and its page shows the result and offers it as CSV")
    func trial() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["marketing"])
        let start = await console.upload("/rules", ["text": Self.newFile, "file": "", "do": "try"], cookie: cookie)
        let address = try #require(start.location)
        #expect(start.status == 303 && address.hasPrefix("/rules/trial?trial="))
        let waiting = await console.get(address, cookie: cookie)
        #expect(waiting.values(of: "Refresh") == ["3"] && waiting.text.contains("waiting</span>"))
        #expect(await console.get(address + "&hold=1", cookie: cookie).values(of: "Refresh").isEmpty)
        let download = address.replacing("/trial?", with: "/trial.csv?")
        #expect(await console.get(download, cookie: cookie).status == 404, "there is no result yet")
        #expect(try console.auditLines().last?.contains(#""kind":"console_rules_trial""#) == true)

        let result = try await Self.result(console, address, cookie)
        #expect(result.text.contains("1 offer would reach other people, among 3 customers with purchases."))
        #expect(result.text.contains(#"<b class="number">+2</b>"#))
        let csv = await console.get(download, cookie: cookie)
        #expect(csv.values(of: "Content-Type") == ["text/csv; charset=utf-8; header=present"])
        #expect(csv.values(of: "Content-Disposition") == [#"attachment; filename="trial.csv""#])
        #expect(
            csv.text.contains("com.example.app,Production,monthly,stay,leaving,leaving,eligible,1,3,2,0\r\n")
                && csv.text.contains("monthly,stay,leaving,leaving,auto_renew,2,0,,\r\n"))
        #expect(await console.get("/rules", cookie: cookie).text.contains("1 offer of 2 changed") == false)
        #expect(await console.get("/rules", cookie: cookie).text.contains(address))

        console.setTime(console.now + RulesTrials.lifetime + .milliseconds(1))
        let later = try await console.signIn(["marketing"])
        #expect(await console.get(address, cookie: later).status == 404, "results are kept for an hour")
    }

    @Test("a cancelled trial has no result, and does not hold up the next one")
    func cancel() async throws {
        let console = try await Self.console()
        let cookie = try await console.signIn(["operator"])
        var addresses: [String] = []
        for _ in 0..<2 {
            let start = await console.upload("/rules", ["text": Self.newFile, "do": "try"], cookie: cookie)
            addresses.append(try #require(start.location))
        }
        let form = String(addresses[0].split(separator: "?")[1])
        #expect(await console.post("/rules/cancel", form, cookie: cookie, site: "cross-site").status == 403)
        #expect(await console.get(addresses[0], cookie: cookie).text.contains("waiting</span>"))
        #expect(await console.post("/rules/cancel", form, cookie: cookie).location == addresses[0])
        #expect(try console.auditLines().last?.contains(#""kind":"console_rules_cancel""#) == true)
        let second = try await Self.result(console, addresses[1], cookie)
        #expect(second.text.contains("finished</span>"))
        #expect(await console.get(addresses[0], cookie: cookie).text.contains("The trial was cancelled"))
        #expect(await console.post("/rules/cancel", "trial=0000000000000000", cookie: cookie).status == 404)
    }

    @Test("ten trials are kept: the oldest result makes room, and a trial that has not ended does not")
    func limits() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        func start() async -> HTTPResponse {
            await console.upload("/rules", ["text": Self.newFile, "do": "try"], cookie: cookie)
        }
        var addresses: [String] = []
        for _ in 0..<RulesTrials.maximumTrials { addresses.append(try #require(await start().location)) }
        let refused = await start()
        #expect(refused.status == 400 && refused.text.contains("Ten trials have not ended yet."))
        _ = await console.post("/rules/cancel", String(addresses[3].split(separator: "?")[1]), cookie: cookie)
        // Nobody waits for the line of a refusal, but the line of the cancellation comes after it.
        #expect(try console.auditLines().contains { $0.contains(#""outcome":"too_many_trials""#) })
        #expect(await start().status == 303)
        #expect(await console.get(addresses[3], cookie: cookie).status == 404)
        #expect(await console.get(addresses[2], cookie: cookie).status == 200)
    }

    @Test("a file that is too large, or has too many offers, is not tried")
    func sizes() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        let large = String(repeating: "#", count: RulesView.maximumBytes + 1)
        let refused = await console.upload("/rules", ["text": large, "do": "check"], cookie: cookie)
        #expect(refused.status == 400 && refused.text.contains("The field text is too long."))
        #expect(console.responder.maximumBodySize(of: "/rules") > 2 * RulesView.maximumBytes)
        #expect(console.responder.maximumBodySize(of: "/clock") == FormReader.maximumBytes)
        let many = (0...RulesCheck.maximumOffers).map { "          - {offerID: o\($0), rule: leaving}\n" }.joined()
        let file = TestConsole.configuration.replacing("          - plain\n", with: "          - plain\n\(many)")
        let tried = await console.upload("/rules", ["text": file, "do": "try"], cookie: cookie)
        #expect(tried.status == 400 && tried.text.contains("more than 1000 offers"))
    }

    @Test("a form with files must have parts")
    func notParts() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        #expect(await console.post("/rules", "text=a", cookie: cookie).status == 400)
        #expect(await console.post("/rules", "a", cookie: cookie, contentType: "multipart/form-data").status == 400)
    }
}
