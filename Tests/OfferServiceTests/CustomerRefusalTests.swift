import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import TestSupport
import Testing

@testable import SubscriberSync

@Suite("Requests about customers are refused")
struct CustomerRefusalTests {
    private static let token = "ost_0123456789abcdef"
    private static let routes: [(method: String, path: String, scope: Caller.Scope, members: String)] = [
        ("POST", "/v1/customers/lookup", .customers, #""transactionID":"1""#),
        ("PUT", "/v1/customers/facts", .facts, #""transactionID":"1","environment":"Sandbox","facts":{"a":1}"#),
        (
            "PUT", "/v1/customers/links", .facts,
            #""transactionID":"1","environment":"Sandbox","applicationUsername":"u""#
        ),
        ("DELETE", "/v1/customers", .erase, #""transactionID":"1""#),
        ("POST", "/v1/customers/list", .customers, #""state":"billing_retry""#),
    ]

    @Test("each route needs its scope", arguments: Caller.Scope.allCases)
    func scopes(scope: Caller.Scope) async throws {
        let caller = try Caller.test("backend", [scope], token: Self.token)
        let service = try StoreService.customers(callers: [caller])
        for route in Self.routes {
            let answer = await service.send(route.method, route.path, route.members, token: Self.token)
            #expect((answer.status < 300) == (route.scope == scope), "\(route.path): \(answer.status)")
            if route.scope != scope { #expect(answer.json["code"] as? String == "scope_missing") }
            #expect(await service.send(route.method, route.path, route.members).status == 401)
        }
    }

    @Test("an app that is not in the configuration, or not the caller's, gets one and the same answer")
    func apps() async throws {
        let caller = try Caller.test(
            "backend", Set(Caller.Scope.allCases), apps: ["com.example.other"], token: Self.token)
        let service = try StoreService.customers(callers: [caller])
        for route in Self.routes {
            for app in ["com.example.app", "com.example.other"] {
                let answer = await service.send(route.method, route.path, route.members, app: app, token: Self.token)
                #expect(answer.status == 403 && answer.json["code"] as? String == "app_not_served")
            }
        }
        #expect(service.routes.log.text.contains("the caller may not access this app"))
        #expect(service.routes.log.text.contains("the app is not in the configuration file"))
        #expect(try await service.store.intakes().isEmpty)
    }

    @Test("without a database, and with one that fails, the answer is 503")
    func noStore() async throws {
        let without = try TestService(catalogue: StoreService.customerCatalogue())
        let closed = try StoreService.customers()
        try closed.store.close()
        for service in [without, closed.routes] {
            for route in Self.routes {
                let body = #"{"bundleID":"com.example.app",\#(route.members)}"#
                let answer = await service.respondLater(HTTPRequest.json(route.method, route.path, body))
                #expect(answer.status == 503 && answer.json["code"] as? String == "store_unavailable")
                #expect(answer.retryAfter == 5)
            }
        }
        #expect(without.log.text.contains("no database is configured"))
        #expect(closed.current.fault != nil)
    }

    @Test(
        "wrong members are named",
        arguments: [
            (0, #""transactionID":"1","x":1"#, "unknown_field", "x"),
            (0, #""transactionID":1"#, "wrong_type", "transactionID"),
            (0, #""transactionID":null"#, "wrong_type", "transactionID"),
            (0, #""transactionID":"""#, "invalid_field", "transactionID"),
            (0, #""applicationUsername":"""#, "invalid_field", "applicationUsername"),
            (0, #""appAccountToken":"1""#, "invalid_field", "appAccountToken"),
            (0, #""environment":"Sandbox""#, "missing_field", "appAccountToken"),
            (0, #""transactionID":"1","appAccountToken":"x""#, "conflicting_fields", "transactionID"),
            (0, #""transactionID":"1","environment":"sandbox""#, "invalid_field", "environment"),
            (0, #""transactionID":"1","facts":{}"#, "unknown_field", "facts"),
            (1, #""transactionID":"1""#, "missing_field", "facts"),
            (1, #""transactionID":"1","facts":[]"#, "wrong_type", "facts"),
            (1, #""transactionID":"1","facts":{}"#, "invalid_field", "facts"),
            (1, #""transactionID":"1","facts":{"":1}"#, "invalid_field", "facts"),
            (1, #""transactionID":"1","facts":{"a":{}}"#, "wrong_type", "facts.a"),
            (1, #""transactionID":"1","facts":{"a":[1]}"#, "wrong_type", "facts.a"),
            (1, #""transactionID":"1","facts":{"a":"\u0000"}"#, "invalid_field", "facts.a"),
            (2, #""transactionID":"1""#, "missing_field", "appAccountToken"),
            (2, #""appAccountToken":null"#, "missing_field", "appTransactionID"),
            (2, #""applicationUsername":"u""#, "missing_field", "appAccountToken"),
            (2, #""applicationUsername":null,"appAccountToken":null"#, "wrong_type", "applicationUsername"),
            (2, #""transactionID":null,"appAccountToken":null"#, "wrong_type", "transactionID"),
            (
                2, #""transactionID":"1","appTransactionID":"1","appAccountToken":null"#, "conflicting_fields",
                "transactionID"
            ),
            (
                2, #""transactionID":"1","applicationUsername":"u","appAccountToken":null"#, "conflicting_fields",
                "applicationUsername"
            ),
            (2, #""transactionID":"1","applicationUsername":"""#, "invalid_field", "applicationUsername"),
            (3, #""transactionID":"1","x":1"#, "unknown_field", "x"),
        ])
    func members(route: Int, members: String, code: String, field: String) async throws {
        let service = try StoreService.customers()
        let route = Self.routes[route]
        let answer = await service.send(route.method, route.path, members)
        #expect(answer.status == 400, "\(members)")
        #expect(answer.json["code"] as? String == code && answer.json["field"] as? String == field, "\(answer.text)")
    }

    @Test("names and values of facts are bounded")
    func bounds() async throws {
        let service = try StoreService.customers(environments: [.production])
        func status(_ facts: String) async -> Int {
            await service.setFacts(#""transactionID":"1","facts":{\#(facts)}"#).status
        }
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        #expect(await status(#""\#(text(64))":1"#) == 204)
        #expect(await status(#""\#(text(65))":1"#) == 400)
        #expect(await status(#""a":"\#(text(1024))""#) == 204)
        #expect(await status(#""a":"\#(text(1025))""#) == 400)
        #expect(await status(#""a":1\#(String(repeating: "0", count: 63))"#) == 204)
        #expect(await status(#""a":1\#(String(repeating: "0", count: 64))"#) == 400)
        #expect(await status(#""a":1e400"#) == 400)
        for (count, expected) in [(100, 204), (101, 400)] {
            #expect(await status((0..<count).map { "\"\($0)\":\($0)" }.joined(separator: ",")) == expected)
        }
        let facts = await service.lookUp(#""transactionID":"1""#).first?["facts"] as? [String: Any]
        #expect(facts?.count == 102)
    }

    @Test("other methods get 405 with the one that the path accepts, and a body is required")
    func methods() async throws {
        let service = try StoreService.customers()
        for route in Self.routes {
            for method in ["GET", "POST", "PUT", "DELETE"] where method != route.method {
                let answer = await service.send(method, route.path, route.members)
                #expect(answer.status == 405 && answer.allow == [route.method])
            }
            let empty = await service.routes.respondLater(HTTPRequest(method: route.method, target: route.path))
            #expect(empty.status == 415)
        }
    }
}
