import Logging
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import TestSupport
import Testing

@testable import OfferConfiguration

/// What the log says about refused requests, and when.
@Suite("Log lines about refusals")
struct RefusalLogTests {
    private static func catalogue() throws -> Catalogue {
        let text = "apps: [{bundleID: a.b, products: [{productID: pro, offers: [half]}]}]"
        return try #require(ConfigurationFile.read(Array(text.utf8), name: "c").file.catalogue)
    }

    private static func offer(_ id: String) -> String {
        #"{"appBundleID":"a.b","productIdentifier":"pro","offerID":"\#(id)","applicationUsername":"u"}"#
    }

    private static func lines(_ start: String, in routes: TestService) -> [Substring] {
        routes.log.text.split(separator: "\n").filter { $0.hasPrefix(start) }
    }

    @Test("all refusals of strangers share one line a second, which counts them")
    func strangers() throws {
        let routes = try TestService(callers: [.test("one", [.sign])], logLevel: .info)
        func lines() -> [Substring] { Self.lines("info request refused", in: routes) }
        for _ in 0..<1000 {
            #expect(routes.post("/offer", "{}").status == 401)
            #expect(routes.get("/nothing").status == 404)
        }
        #expect(lines().count == 1)
        #expect(lines().last?.contains(#""code": credentials_missing"#) == true)
        #expect(lines().last?.contains("count") == false)
        routes.advanceClock(by: .seconds(1))
        #expect(routes.get("/nothing").status == 404)
        #expect(lines().count == 2)
        #expect(lines().last?.contains(#""count": 2000"#) == true)
        #expect(lines().last?.contains("credentials_missing: 999, not_found: 1001") == true)
        // What no later refusal reports is reported by the clock.
        for _ in 0..<5 { #expect(routes.get("/nothing").status == 404) }
        routes.refusals.flush()
        #expect(lines().count == 2)
        routes.advanceClock(by: .seconds(1))
        for _ in 0..<3 { routes.refusals.flush() }
        #expect(lines().count == 3)
        #expect(lines().last?.contains(#""count": 5"#) == true)
        #expect(routes.log.text.split(separator: "\n").count == 3)
    }

    @Test("a caller's refusals each have a line, even during a flood of strangers")
    func callers() throws {
        let routes = try TestService(callers: [.test("one", [.sign])], logLevel: .info)
        for _ in 0..<20 {
            #expect(routes.post("/offer", "{}", token: "token-of-one").status == 400)
            #expect(routes.post("/offer", "{}", token: "guess").status == 401)
        }
        let lines = Self.lines("info request refused", in: routes)
        #expect(lines.filter { $0.contains("missing_field") }.count == 20)
        #expect(lines.filter { $0.contains("credentials_refused") }.count == 1)
    }

    @Test("without callers, offers that are not served have one line a second, which counts them")
    func offersOfStrangers() throws {
        let routes = try TestService(catalogue: Self.catalogue(), logLevel: .info)
        for _ in 0..<100 { #expect(routes.post("/offer", Self.offer("halb")).status == 403) }
        #expect(routes.log.text.split(separator: "\n").count == 1)
        #expect(routes.log.text.contains("the product has an offer half"))
        routes.advanceClock(by: .seconds(1))
        #expect(routes.post("/offer", Self.offer("other")).status == 403)
        let lines = routes.log.text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains(#""count": 100"#) == true && lines.last?.contains("unknownOffer") == true)
    }

    /// The lines that wait to be composed.
    private typealias Jobs = NIOLockedValueBox<[@Sendable () -> Void]>

    /// A service that composes no line until the test runs its job.
    private static func waitingService(_ jobs: Jobs) throws -> TestService {
        try TestService(
            catalogue: catalogue(), callers: [.test("one", [.sign])], logLevel: .info,
            parts: { $0.front.composeRefusals = { job in jobs.withLockedValue { $0.append(job) } } })
    }

    @Test("a refusal is answered before its hint is looked for")
    func offThePath() throws {
        let jobs = Jobs([])
        let routes = try Self.waitingService(jobs)
        for id in ["halb", "nothing"] {
            #expect(routes.post("/offer", Self.offer(id), token: "token-of-one").status == 403)
        }
        #expect(Self.lines("notice", in: routes) == [], "the responses are there, and no line is")
        for job in jobs.withLockedValue({ $0 }) { job() }
        let lines = Self.lines("notice offer not served", in: routes)
        #expect(lines.count == 2)
        #expect(lines.first?.contains("the product has an offer half") == true)
        #expect(lines.allSatisfy { $0.contains("requestID") && $0.contains(#""caller": one"#) })
    }

    @Test("lines that wait to be composed are bounded, and a line says how many were dropped")
    func bounded() throws {
        let jobs = Jobs([])
        let routes = try Self.waitingService(jobs)
        func refuse(_ count: Int) {
            for _ in 0..<count {
                #expect(routes.post("/offer", Self.offer("x"), token: "token-of-one").status == 403)
            }
        }
        refuse(RefusalLog.maximumWaiting + 44)
        let waiting = jobs.withLockedValue { jobs in
            defer { jobs = [] }
            return jobs
        }
        #expect(waiting.count == RefusalLog.maximumWaiting)
        for job in waiting { job() }
        let lines = Self.lines("notice offer not served", in: routes)
        #expect(lines.count == RefusalLog.maximumWaiting)
        #expect(lines.filter { $0.contains(#""dropped": 44"#) }.count == 1)
        refuse(1)
        #expect(jobs.withLockedValue { $0.count } == 1, "there is room again")
    }
}
