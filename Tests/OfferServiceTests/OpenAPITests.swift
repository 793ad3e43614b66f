import AppStoreData
import Foundation
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferExplanations
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferService

@Suite("API contract")
struct OpenAPITests {
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]

    private let routes: TestService
    private let schema: JSONSchema

    init() throws {
        routes = try TestService(issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
        schema = JSONSchema(document: routes.get("/openapi.json").json)
    }

    private func object(_ keys: String...) -> [String: Any] {
        keys.reduce(schema.document) { $0[$1] as? [String: Any] ?? [:] }
    }

    @Test("the contract is served to anyone as JSON and parses as OpenAPI 3.1")
    func served() throws {
        let routes = try TestService(callers: [Self.caller(.sign)])
        let answer = routes.get("/openapi.json")
        #expect(answer.status == 200)
        #expect(answer.mediaType == .json)
        #expect(answer.json["openapi"] as? String == "3.1.0")
        let source = MarkdownBlock.repository.appending(path: "Sources/OfferService/OpenAPI/openapi.json")
        #expect(answer.body == [UInt8](try Data(contentsOf: source)))
        #expect(routes.post("/openapi.json", "{}").allow == ["GET", "HEAD"])
    }

    @Test("the service serves exactly the contract's methods on each of its paths")
    func routesOfTheContract() {
        for (path, operations) in object("paths") {
            let documented = Set((operations as? [String: Any] ?? [:]).keys.map { $0.uppercased() })
            for method in Self.methods {
                let answer = routes.respond(HTTPRequest(method: method, target: path))
                #expect(answer.status != 404)
                #expect((answer.status != 405) == documented.contains(method), "\(method) \(path)")
                if answer.status == 405 { #expect(Set(answer.allow) == documented) }
            }
        }
    }

    @Test("every routed path is in the contract")
    func pathsOfTheRoutes() {
        let known = Set(routes.router.paths)
        #expect(!known.isEmpty)
        #expect(known == Set(object("paths").keys))
    }

    @Test("the contract lists every problem code under its status, and no other codes")
    func codes() {
        var documented: [String: Int] = [:]
        for (name, response) in object("components", "responses") {
            let schemas = schema.problemSchemas(of: response)
            let properties = schemas.compactMap { $0["properties"] as? [String: [String: Any]] }.first ?? [:]
            #expect(!properties.isEmpty, "\(name)")
            for code in properties["code"]?["enum"] as? [String] ?? [] {
                #expect(documented.updateValue(properties["status"]?["const"] as? Int ?? 0, forKey: code) == nil)
            }
        }
        let codes = Problem.Code.allCases
        for code in codes { #expect(documented[code.rawValue] == Self.example(of: code).status, "\(code)") }
        #expect(Set(documented.keys) == Set(codes.map(\.rawValue)))
    }

    /// An example of a problem with this code.
    private static func example(of code: Problem.Code) -> Problem {
        switch code {
        case .grantsNotConfigured: .grantsNotConfigured
        case .notGrantable: .notGrantable
        case .unknownCustomer: .unknownCustomer
        case .unknownGrant: .unknownGrant
        case .unknownOffer: .unknownOffer
        case .reportFailed: .reportFailed
        case .grantExists: .grantExists(UUIDText(high: 1, low: 1))
        case .grantClosed: .grantClosed
        case .secondPersonNeeded: .secondPersonNeeded
        case .malformedHTTP: .malformedHTTP
        case .requestTimeout: .requestTimeout
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed(["GET"])
        case .bodyTooLarge: .bodyTooLarge
        case .notJSONContent: .notJSONContent
        case .encodedContent: .encodedContent
        case .misdirectedRequest: .misdirectedRequest
        case .unreadableJSON: .unreadableJSON(JSONError(.notUTF8, at: 0))
        case .notAnObject: .notAnObject
        case .unreadableQuery: .unreadableQuery(.plus)
        case .queryNotExpected: .queryNotExpected
        case .queryAndBody: .queryAndBody
        case .missingField: .missingField("a")
        case .wrongType: .wrongType(field: "a", expected: "a string", found: "null")
        case .invalidField: .invalidField(FieldError(field: "a", reason: .empty))
        case .conflictingFields: .conflictingFields("a", "b")
        case .reservedField: .reservedField("a")
        case .idempotencyKeyReused: .idempotencyKeyReused
        case .unknownField: .unknownField("a")
        case .credentialsMissing: .credentialsMissing
        case .credentialsRefused: .credentialsRefused
        case .scopeMissing: .scopeMissing(.sign)
        case .offerNotServed: .offerNotServed
        case .appNotServed: .appNotServed(because: "a test")
        case .environmentNeeded: .environmentNeeded
        case .appStoreNotQueried: .appStoreNotQueried
        case .appStoreUnavailable: .appStoreUnavailable(.data(DataRefusal(.anotherSubscription)))
        case .notEligible: .notEligible([DecisionReason(.holdout)], showsDetails: true)
        case .anotherCustomersProof: .anotherCustomersProof
        case .anotherCustomersTransaction: .anotherCustomersTransaction
        case .proofRefused: .proofRefused("a", DataRefusal(VerificationFailure(.signatureInvalid)))
        case .proofsUnavailable: .proofRefused("a", DataRefusal(VerificationFailure(.verificationUnavailable)))
        case .notificationRefused: .notificationRefused(DataRefusal(VerificationFailure(.signatureInvalid)))
        case .notificationsUnavailable: .notificationRefused(DataRefusal(VerificationFailure(.verificationUnavailable)))
        case .sharedSecretRefused: .sharedSecretRefused(DataRefusal(.wrongPassword))
        case .retentionRequestRefused:
            .retentionRequestRefused(DataRefusal(VerificationFailure(.signedTooLongAgo)))
        case .noRetentionMessage: .noRetentionMessage
        case .retentionMessageUnavailable: .retentionMessageUnavailable
        case .storeUnavailable: .storeUnavailable
        case .notForUsers: .notForUsers
        case .customerNotYours: .customerNotYours
        case .rateLimited: .rateLimited(seconds: 1)
        case .usersUnavailable: .usersUnavailable
        case .signingUnavailable: .signingUnavailable
        case .auditUnavailable: .auditUnavailable
        case .clockWrong: .clockWrong
        case .issuerIDMissing: .issuerIDMissing
        case .overloaded: .overloaded
        case .notReady: .notReady
        case .stopping: .stopping
        }
    }

    @Test("each problem has its own code and a status that the metrics count")
    func declarations() {
        for code in Problem.Code.allCases {
            let problem = Self.example(of: code)
            #expect(problem.code == code)
            #expect(Problem.statuses.contains(problem.status))
        }
    }

    @Test("the contract lists every cause and warning of an explanation, each with its own sentence")
    func causes() {
        let properties = object("components", "schemas", "Explanation", "properties")
        let documented = (properties["cause"] as? [String: Any])?["enum"] as? [Any] ?? []
        #expect(documented.compactMap { $0 as? String } == Cause.allCases.map(\.rawValue))
        #expect(documented.last is NSNull)
        #expect(Set(Cause.allCases.map { Finding($0).sentence }).count == Cause.allCases.count)
        let warnings = schema.resolve("#/components/schemas/Explanation/properties/warnings/items/properties/code")
        #expect((warnings as? [String: Any])?["enum"] as? [String] == ExplanationWarning.allCases.map(\.rawValue))
    }

    @Test("every response matches the contract")
    func answers() async throws {
        let sample = #"{"appBundleID":"a","productID":"p","offerID":"o","applicationUsername":""}"#
        let v1 =
            #"{"bundleID":"a","productID":"p","offerID":"o","appAccountToken":"D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10"}"#
        let evidence =
            #"{"bundleID":"a","productID":"p","offerID":"o","keyID":"x","nonce":"n","timestamp":"1","signature":"s"}"#
        let post = ("POST", "application/json" as String?)
        let requests: [(target: String, method: String, type: String?, body: String, status: Int)] = [
            ("/offer", post.0, post.1, sample, 200), ("/v1/promotional-offers", post.0, post.1, v1, 200),
            (
                "/v1/promotional-offers", post.0, post.1,
                v1.replacing(#""o","#, with: #""o","transactionID":"1","#), 200
            ),
            ("/v1/promotional-offers", post.0, post.1, #"{"offers":[\#(v1),{},7,\#(v1)]}"#, 200),
            ("/v1/promotional-offers", post.0, post.1, #"{"offers":[]}"#, 400),
            (
                "/v1/promotional-offers", post.0, post.1,
                v1.replacing(#""o","#, with: #""o","proofs":{"signedTransactions":["a.b.c"]},"#), 422
            ),
            (
                "/v1/introductory-offers", post.0, post.1,
                #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":false,"transactionID":"1"}"#, 200
            ),
            ("/v1/introductory-offers", post.0, post.1, #"{"bundleID":"a","iss":"x"}"#, 400),
            ("/v1/advanced-commerce", post.0, post.1, #"{"bundleID":"a","request":{"a":[1]}}"#, 200),
            ("/v1/advanced-commerce", post.0, post.1, #"{"bundleID":"a","request":1}"#, 400),
            ("/offer?appBundleID=a&productIdentifier=p&offerID=o&applicationUsername=u", "GET", nil, "", 200),
            ("/health/live", "GET", nil, "", 200), ("/health/ready", "GET", nil, "", 200),
            ("/openapi.json", "GET", nil, "", 200), ("/offer", post.0, post.1, "{", 400),
            ("/offer", post.0, post.1, "[]", 400), ("/offer", post.0, post.1, "{}", 400),
            ("/offer", post.0, post.1, #"{"keyID":"K"}"#, 400), ("/offer?a", "GET", nil, "", 400),
            ("/offer?a=b", post.0, post.1, sample, 400), ("/offer?a=b", "GET", post.1, sample, 400),
            ("/v1/promotional-offers", post.0, post.1, sample, 400),
            ("/v1/promotional-offers", post.0, post.1, v1.replacing("\"a\"", with: "\"\""), 400),
            ("/v1/promotional-offers", post.0, post.1, v1.replacing("\"a\"", with: "1"), 400),
            ("/offer", post.0, "text/plain", sample, 415), ("/offer", "DELETE", nil, "", 405),
            ("/health/live", "POST", nil, "", 405), ("/v1/explanations", post.0, post.1, "{}", 400),
            ("/v1/explanations", post.0, post.1, evidence, 200),
            ("/v1/explanations", post.0, post.1, evidence.replacing(#""x""#, with: "\"\""), 200),
            ("/v1/explanations", post.0, post.1, #"{"compactJWS":"e30.e30.e30","storeKitError":"12"}"#, 200),
            ("/v1/explanations", post.0, post.1, #"{"compactJWS":"x","signature":"y"}"#, 400),
        ]
        let both = routes.post("/v1/promotional-offers", v1.replacing(#""o","#, with: #""o","transactionID":"1","#))
            .text
        let explained = await routes.postLater("/v1/explanations", both)
        #expect(explained.text.contains(#""compactJWS":{"verifies":true"#))
        expect(explained, isDocumentedAt: "/v1/explanations", "POST", "both signatures")
        for request in requests {
            let answer = routes.respond(
                HTTPRequest(
                    method: request.method, target: request.target, contentType: request.type,
                    body: Array(request.body.utf8)))
            let path = String(request.target.prefix { $0 != "?" })
            #expect(answer.status == request.status, "\(request)")
            let isOwn = answer.status != 405
            expect(answer, isDocumentedAt: path, isOwn ? request.method : "GET", "\(request)")
        }
    }

    @Test("what the routes for customers answer, and the examples of their requests, match the contract")
    func customers() async throws {
        let service = try StoreService.customers()
        try await service.addRichCustomer()
        let token = "\(Sample.token(1))"
        let requests: [(method: String, path: String, body: String, status: Int)] = [
            ("PUT", "/v1/customers/facts", #""appAccountToken":"\#(token)","facts":{"a":1}"#, 422),
            ("PUT", "/v1/customers/facts", #""transactionID":"3","facts":{"a":1,"b":"c","d":true,"e":null}"#, 204),
            ("PUT", "/v1/customers/links", #""transactionID":"3","applicationUsername":"u""#, 204),
            ("PUT", "/v1/customers/links", #""transactionID":"1""#, 400),
            ("POST", "/v1/customers/lookup", #""transactionID":"1""#, 200),
            ("POST", "/v1/customers/lookup", #""transactionID":"unknown""#, 200),
            ("POST", "/v1/customers/lookup", #""transactionID":"1","environment":"production""#, 400),
            ("POST", "/v1/customers/list", #""state":"billing_retry""#, 200),
            ("POST", "/v1/customers/list", #""state":"expired""#, 400),
            ("POST", "/v1/customers/list", #""offerID":"unknown""#, 404),
            ("DELETE", "/v1/customers", #""transactionID":"1""#, 200),
        ]
        for request in requests {
            let answer = await service.send(request.method, request.path, request.body)
            #expect(answer.status == request.status, "\(request) \(answer.text)")
            expect(answer, isDocumentedAt: request.path, request.method, "\(request)")
        }
        let refused = await service.send("DELETE", "/v1/customers", #""transactionID":"1""#, app: "another")
        #expect(refused.status == 403)
        expect(refused, isDocumentedAt: "/v1/customers", "DELETE", "another app")
        for (path, method) in [
            ("/v1/customers/lookup", "post"), ("/v1/customers/facts", "put"), ("/v1/customers/links", "put"),
            ("/v1/customers", "delete"),
        ] {
            let (examples, ofBody) = schema.examples(ofBodyAt: path, method)
            #expect(!examples.isEmpty)
            for example in examples {
                #expect(schema.faults(of: example, against: ofBody) == [])
                let body = String(decoding: try JSONSerialization.data(withJSONObject: example), as: UTF8.self)
                let answer = await service.routes.respondLater(HTTPRequest.json(method.uppercased(), path, body))
                #expect([200, 204].contains(answer.status), "\(path): \(answer.text)")
                var twice = example
                twice["transactionID"] = "1"
                twice["originalTransactionID"] = "2"
                #expect(schema.faults(of: twice, against: ofBody) != [])
            }
        }
    }

    @Test("token refusals and the responses of a service that cannot sign match the contract")
    func refusals() throws {
        let refusing = try TestService(
            catalogue: Catalogue(apps: [:]),
            callers: [Self.caller(.sign), Self.caller(.metrics)])
        let sample = #"{"appBundleID":"a","productID":"p","offerID":"o","applicationUsername":""}"#
        for (token, status) in [(nil, 401), ("unknown", 401), ("metrics", 403), ("sign", 403)] as [(String?, Int)] {
            let answer = refusing.post("/offer", sample, token: token)
            #expect(answer.status == status)
            expect(answer, isDocumentedAt: "/offer", "POST", "\(token ?? "no token")")
        }
        let faulty = try TestService(pair: StubKeyPair())
        let refused = faulty.post("/offer", sample)
        #expect(refused.status == 503)
        expect(refused, isDocumentedAt: "/offer", "POST", "a faulty key")
        let withoutIssuer = try TestService()
        expect(
            withoutIssuer.post("/v1/advanced-commerce", #"{"bundleID":"a","request":{"a":1}}"#),
            isDocumentedAt: "/v1/advanced-commerce", "POST", "no issuer ID")
        for (token, status) in [(nil, 401), ("unknown", 401), ("sign", 403), ("metrics", 200)] as [(String?, Int)] {
            let answer = refusing.get("/metrics", token: token)
            #expect(answer.status == status)
            expect(answer, isDocumentedAt: "/metrics", "GET", "\(token ?? "no token")")
        }
        expect(faulty.get("/health/ready"), isDocumentedAt: "/health/ready", "GET", "a faulty key")
        for token in [nil, "unknown", "sign", "metrics"] {
            let answer = refusing.get("/health/ready", token: token)
            #expect(answer.status == 200)
            expect(answer, isDocumentedAt: "/health/ready", "GET", "\(token ?? "no token")")
        }
        for path in ["/offer", "/metrics", "/openapi.json"] {
            let local = try TestService(isOnLoopback: true)
            let answer = local.get(path, host: "evil.example.com")
            #expect(answer.status == 421)
            expect(answer, isDocumentedAt: path, "GET", "another host")
        }
        for problem in [Problem.malformedHTTP, .requestTimeout, .bodyTooLarge] {
            expect(problem.response(to: RequestContext()), isDocumentedAt: "/offer", "POST", "\(problem)")
        }
    }

    @Test("responses to notifications, and health with a database, match the contract")
    func notifications() async throws {
        let path = "/v1/app-store-notifications"
        let intake = try StoreService.notifications()
        let body = try TestNotification().body(signedBy: intake.chain)
        for (text, status) in [
            (body, 200), (body, 200), ("{}", 400), ("[]", 400), ("{", 400), (#"{"signedPayload":1}"#, 400),
            (#"{"signedPayload":"a.b.c"}"#, 422), (#"{"notification_type":"DID_RENEW","bid":"com.example.app"}"#, 403),
            (#"{"notification_type":"DID_RENEW","bid":"another.app"}"#, 403),
            (try TestNotification(changeData: { $0.with("bundleId", #""b""#) }).body(signedBy: intake.chain), 422),
            (
                try TestNotification(signedDate: Fixtures.timestamp.milliseconds + 300_001).body(
                    signedBy: intake.chain), 503
            ),
        ] {
            let answer = await intake.notify(text)
            #expect(answer.status == status, "\(answer.text)")
            expect(answer, isDocumentedAt: path, "POST", answer.text)
        }
        let text = await intake.routes.respondLater(
            HTTPRequest(method: "POST", target: path, contentType: "text/plain", body: Array(body.utf8)))
        #expect(text.status == 415)
        expect(text, isDocumentedAt: path, "POST", "text")
        let closed = try await StoreService.notifications(isOpen: false).notify(TestNotification())
        #expect(closed.status == 503)
        expect(closed, isDocumentedAt: path, "POST", "a closed store")
        let limited = try StoreService.notifications(limits: .with(\.notifications, 1, 1))
        for status in [400, 429] {
            let answer = await limited.notify("{}", peer: "192.0.2.1")
            #expect(answer.status == status)
            expect(answer, isDocumentedAt: path, "POST", "a limit")
        }
        expect(intake.routes.get("/health/ready"), isDocumentedAt: "/health/ready", "GET", "a database")
    }

    @Test("reports match the contract, with a type for every member")
    func reports() async throws {
        let service = try await ReportRouteTests.service()
        for number in 1...20 as ClosedRange<UInt64> {
            let facts = [("\(number)", 0.0), ("\(number)0", 2)].map { id, start in
                Sample.transaction(id, of: "\(number)", start, start + 2) { purchase in
                    purchase.appAccountToken = Sample.token(number)
                    (purchase.currency, purchase.storefront) = ("USD", "DEU")
                    guard start > 0, number % 4 != 0 else { return }
                    purchase.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payUpFront)
                }
            }
            try await service.store.merge(facts, in: Sample.production)
        }
        service.routes.setTime(Sample.day(50))
        let paths = [
            "/v1/reports/offers": "?\(ReportRouteTests.half)", "/v1/reports/subscriptions": "?bundleID=com.example.app",
        ]
        for status in [202, 200] {
            for (path, query) in paths {
                let answer = await service.routes.respondLater(HTTPRequest(method: "GET", target: path + query))
                #expect(answer.status == status, "\(answer.text)")
                expect(answer, isDocumentedAt: path, "GET", "\(status)")
            }
            await ReportRouteTests.makeReports(service)
        }
        let offer = await service.routes.respondLater(
            HTTPRequest(method: "GET", target: "/v1/reports/offers?\(ReportRouteTests.half)"))
        // So that the test is about every part of a report.
        for name in ["paid", "churn", "cohorts", "groups"] {
            #expect((offer.json[name] as? [Any])?.isEmpty == false, "\(name)")
        }
        #expect((offer.json["funnel"] as? [String: Any])?["redeemed"] as? Int == 15)
    }

    @Test("answers about retention messages match the contract")
    func retentionMessages() async throws {
        let path = "/v1/retention-messages"
        for form in ["v1", "v2"] {
            let cases = Retention.cases.replacing(
                "  promotionalOffer", with: "  signature: \(form)\n  promotionalOffer")
            let service = try StoreService.retention(cases)
            try await service.addSubscriber(autoRenew: false)
            let offer = try await service.message()
            #expect(offer.text.contains(form == "v1" ? "SignatureV1" : "SignatureV2"))
            let unknown = Retention.Request(2).with("originalTransactionId", #""7""#)
            let old = Retention.Request(3, at: .min)
            for answer in [offer, try await service.message(unknown), try await service.message(old)] {
                expect(answer, isDocumentedAt: path, "POST", answer.text)
            }
        }
        let withoutFallback = try StoreService.retention("- {rule: loyalty, message: \(Retention.message(1))}")
        let nothing = try await withoutFallback.message()
        #expect(nothing.status == 404)
        expect(nothing, isDocumentedAt: path, "POST", "nothing")
        // A service of its own: what an earlier answer still writes would show that the database is reachable.
        let unreachable = try StoreService.retention("- {rule: loyalty, message: \(Retention.message(1))}")
        unreachable.current.note(StoreError(.unreachable, "for a test"))
        let unavailable = try await unreachable.message()
        #expect(unavailable.status == 503)
        expect(unavailable, isDocumentedAt: path, "POST", "unavailable")
        for body in ["{}", "[]", #"{"signedPayload":"a.b.c"}"#] {
            expect(await withoutFallback.routes.postLater(path, body), isDocumentedAt: path, "POST", body)
        }
    }

    @Test("the contract's example notifications match its schema, and what is no notification does not")
    func notificationBodies() {
        let (examples, ofBody) = schema.examples(ofBodyAt: "/v1/app-store-notifications")
        #expect(examples.count == 2)
        for example in examples { #expect(schema.faults(of: example, against: ofBody) == []) }
        for body in [[:], ["signedPayload": 1], ["signedPayload": 1, "notification_type": "TEST"]] as [[String: Any]] {
            #expect(!schema.faults(of: body, against: ofBody).isEmpty, "\(body)")
        }
    }

    @Test("the contract's example requests are accepted, and requests that it forbids are refused")
    func requests() throws {
        for path in [
            "/offer", "/v1/promotional-offers", "/v1/introductory-offers", "/v1/advanced-commerce", "/v1/explanations",
        ] {
            let (examples, ofBody) = schema.examples(ofBodyAt: path)
            #expect(!examples.isEmpty)
            for example in examples {
                #expect(schema.faults(of: example, against: ofBody) == [])
                let body = try JSONSerialization.data(withJSONObject: example)
                #expect(routes.post(path, String(decoding: body, as: UTF8.self)).status == 200)
            }
        }
        for text in [
            "", "x", "é", "\u{2063}", "a\u{2063}\u{301}", "\n", "a\n", "\u{7F}", "\u{85}", "\u{2028}", "😀", " ", " x",
            "\u{A0}", "\u{3000}",
        ] {
            for count in [1, 38, 39, 63, 64, 128, 129, 155, 156, 255, 256, 512, 513] {
                for field in ["bundleID", "productID", "offerID", "applicationUsername", "transactionID"] {
                    let value = String(repeating: text, count: count)
                    var members = ["bundleID": "a", "productID": "p", "offerID": "o", "applicationUsername": "u"]
                    members[field] = value
                    let body = try JSONSerialization.data(withJSONObject: members)
                    let status = routes.post("/v1/promotional-offers", String(decoding: body, as: UTF8.self)).status
                    let faults = schema.faults(
                        of: members, against: ["$ref": "#/components/schemas/PromotionalOfferRequest"])
                    if faults.isEmpty {
                        #expect(status == 200, "\(field) of \(count) \(text.debugDescription)")
                    } else if value.allSatisfy(\.isASCII) {
                        #expect(status == 400, "\(field) of \(count) \(text.debugDescription)")
                    }
                }
            }
        }
    }

    /// Checks a response's status, headers and body against the contract of an operation.
    private func expect(_ answer: HTTPResponse, isDocumentedAt path: String, _ method: String, _ comment: String) {
        let operation = object("paths", path, method.lowercased())
        var response = (operation["responses"] as? [String: Any])?[String(answer.status)] as? [String: Any] ?? [:]
        if let reference = response["$ref"] as? String { response = schema.resolve(reference) as? [String: Any] ?? [:] }
        let content = response["content"] as? [String: [String: Any]] ?? [:]
        #expect(!response.isEmpty, "\(answer.status): \(comment)")
        let described = answer.mediaType.flatMap { content[$0.rawValue] }
        #expect((described != nil) == (answer.mediaType != nil), "\(answer.status): \(comment)")
        expectHeaders(of: answer, in: response, comment)
        guard let body = described?["schema"] else { return }
        let value: Any = answer.mediaType == .metrics ? answer.text : answer.json
        #expect(schema.faults(of: value, against: body) == [], "\(comment)")
        if answer.status == 200, path != "/openapi.json", answer.mediaType != .metrics {
            #expect(schema.undocumentedMembers(of: answer.json, against: body) == [], "\(comment)")
        }
    }

    private func expectHeaders(of answer: HTTPResponse, in response: [String: Any], _ comment: String) {
        let documented = response["headers"] as? [String: [String: Any]] ?? [:]
        let headers = Dictionary(uniqueKeysWithValues: answer.headers.map { ($0.name, $0.value) })
        for (name, value) in headers where name != "Content-Type" {
            let header = schema.resolve(documented[name]?["$ref"] as? String ?? "") as? [String: Any]
            #expect(header != nil, "\(name): \(comment)")
            let isNumber = (header?["schema"] as? [String: Any])?["type"] as? String == "integer"
            let typed: Any = isNumber ? Int(value) ?? value as Any : value
            #expect(schema.faults(of: typed, against: header?["schema"] ?? false) == [], "\(comment)")
        }
        for (name, header) in documented {
            let isRequired = (schema.resolve(header["$ref"] as? String ?? "") as? [String: Any])?["required"] as? Bool
            #expect(isRequired != true || headers[name] != nil, "\(name): \(comment)")
        }
    }

    /// A caller whose token is the name of its scope.
    private static func caller(_ scope: Caller.Scope) throws -> Caller {
        try .test(scope.rawValue, [scope], token: scope.rawValue)
    }
}

extension JSONSchema {
    /// The schemas that together describe the problems of a response.
    fileprivate func problemSchemas(of response: Any) -> [[String: Any]] {
        let content = (response as? [String: Any])?["content"] as? [String: [String: Any]]
        let schema = content?["application/problem+json"]?["schema"] as? [String: Any]
        return schema?["allOf"] as? [[String: Any]] ?? []
    }

    fileprivate func examples(ofBodyAt path: String, _ method: String = "post") -> (
        examples: [[String: Any]], schema: Any
    ) {
        let paths = document["paths"] as? [String: [String: [String: Any]]]
        let body = paths?[path]?[method]?["requestBody"] as? [String: Any]
        let content = (body?["content"] as? [String: [String: Any]])?["application/json"]
        let examples = content?["examples"] as? [String: [String: Any]] ?? [:]
        return (examples.values.compactMap { $0["value"] as? [String: Any] }, content?["schema"] ?? false)
    }

    /// Members of `object` that the schema allows but does not describe.
    fileprivate func undocumentedMembers(of object: [String: Any], against schema: Any) -> [String] {
        var schema = schema as? [String: Any] ?? [:]
        if let reference = schema["$ref"] as? String { schema = resolve(reference) as? [String: Any] ?? [:] }
        if let choices = schema["anyOf"] as? [Any] {
            let choice = choices.first { faults(of: object, against: $0).isEmpty }
            return choice.map { undocumentedMembers(of: object, against: $0) } ?? ["none of anyOf"]
        }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        return object.flatMap { name, value in
            // Of members with arbitrary names, the other schema says everything.
            guard let property = properties[name] else {
                return schema["additionalProperties"] is [String: Any] ? [] : [name]
            }
            let items = (property as? [String: Any])?["items"] ?? false
            return (value as? [String: Any]).map { undocumentedMembers(of: $0, against: property) }
                ?? (value as? [[String: Any]])?.flatMap { undocumentedMembers(of: $0, against: items) } ?? []
        }
    }
}
