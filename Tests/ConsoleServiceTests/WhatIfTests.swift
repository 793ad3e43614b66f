import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService

@Suite("What-if in the console")
struct WhatIfTests {
    private static func configuration(_ condition: String) -> String {
        TestConsole.configuration.replacing("{subscription: {status: active, autoRenew: off}}", with: condition)
    }

    private static let customer =
        "/customer?app=com.example.app&environment=Production&kind=appAccountToken&id=\(Sample.token(1))"

    private static func console(_ condition: String) async throws -> TestConsole {
        let console = try await TestConsole(configuration(condition))
        let id = "9000000000001"
        let transaction = Sample.transaction(id, of: id, 0, 30) {
            $0.appAccountToken = Sample.token(1)
            $0.appTransactionID = Sample.id("704100000001")
        }
        try await console.store.merge([transaction, Sample.renewal(of: id, signed: 1)], in: Sample.production)
        try await console.store.setTeamFacts(
            [Sample.text("plan"): .text(Array("basic".utf8))], of: Sample.account(1), in: Sample.production,
            at: Sample.day(1))
        return console
    }

    private static func isEligible(_ page: String) -> Bool { page.contains("1 of 1 offer can be redeemed now") }

    @Test(
        "a fact decides again as if it had the typed value, and nothing is stored",
        arguments: [
            ("{fact: {name: vip, is: true}}", "vip", "true", true),
            ("{fact: {name: vip, is: true}}", "vip", "false", false),
            ("{fact: {name: vip, is: true}}", "vip", "%22true%22", false),
            ("{fact: {name: vip, is: false}}", "vip", "false", true),
            ("{fact: {name: episodes, atLeast: 40}}", "episodes", "40", true),
            ("{fact: {name: episodes, atLeast: 40}}", "episodes", "39.9", false),
            ("{fact: {name: episodes, atLeast: 40}}", "episodes", "4e1", true),
            ("{fact: {name: episodes, atLeast: 40}}", "episodes", "041", false),
            ("{fact: {name: episodes, atLeast: 40}}", "episodes", "%2241%22", false),
            ("{fact: {name: plan, is: annual}}", "plan", "annual", true),
            ("{fact: {name: plan, is: annual}}", "plan", "basic", false),
            ("{fact: {name: code, is: \"01\"}}", "code", "01", true),
            ("{fact: {name: code, is: \"7\"}}", "code", "7", false),
            ("{fact: {name: code, is: \"7\"}}", "code", "%227%22", true),
            ("{fact: {name: plan, is: annual}}", "paln", "annual", false),
            ("{fact: {name: plan, exists: true}}", "unheard-of", "annual", true),
        ])
    func fact(condition: String, name: String, value: String, isEligible: Bool) async throws {
        let console = try await Self.console(condition)
        let cookie = try await console.signIn(["support"])
        let before = try await console.records()
        let known = await console.get(Self.customer, cookie: cookie).text
        let whatIf = await console.get(Self.customer + "&factName=\(name)&factValue=\(value)", cookie: cookie).text
        #expect(Self.isEligible(whatIf) == isEligible)
        #expect(whatIf.contains("This shows the offers if <code><bdi>\(name)</bdi></code> were"))
        let after = await console.get(Self.customer, cookie: cookie).text
        #expect(Self.isEligible(after) == Self.isEligible(known))
        #expect(try await console.records() == before)
    }

    @Test("auto-renew and a fact can be supposed together, and one alone is not enough")
    func both() async throws {
        let console = try await Self.console(
            "{all: [{subscription: {autoRenew: off}}, {fact: {name: ticket, exists: true}}]}")
        let cookie = try await console.signIn(["support"])
        for (query, isEligible) in [
            ("&autoRenew=off", false), ("&factName=ticket&factValue=T-1", false),
            ("&autoRenew=off&factName=ticket&factValue=T-1", true),
            ("&autoRenew=on&factName=ticket&factValue=T-1", false), ("&autoRenew=off&factValue=T-1", false),
        ] {
            let page = await console.get(Self.customer + query, cookie: cookie).text
            #expect(Self.isEligible(page) == isEligible, "\(query)")
        }
    }
}
