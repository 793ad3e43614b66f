import OfferCore
import Testing

@testable import OfferIdentity

@Suite("The cookie, the claims and the roles of a sign-in")
struct SignInValuesTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    // MARK: The cookie

    @Test("a pending sign-in survives its cookie, whose characters need no quotes")
    func cookie() throws {
        let pages = ["/", "/customers?q=a%20b", "/" + String(repeating: "x", count: ReturnPage.maximumSize - 1)]
        for page in pages {
            let pending = try PendingSignIn.make(page: try #require(ReturnPage(page)), at: Self.now)
            let value = pending.cookieValue.reveal
            #expect(value.utf8.count <= PendingSignIn.maximumCookieSize)
            #expect(value.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) })
            #expect(PendingSignIn(cookieValue: value) == pending)
        }
    }

    @Test("a cookie in any other form is refused")
    func badCookies() throws {
        let value = try PendingSignIn.make(page: .start, at: Self.now).cookieValue.reveal
        let parts = value.split(separator: ".").map(String.init)
        func with(_ place: Int, _ part: String) -> String {
            var changed = parts
            changed[place] = part
            return changed.joined(separator: ".")
        }
        let bad = [
            "", "1.....", value + ".", value + " ", "." + value, with(0, "2"), with(1, String(parts[1].dropLast())),
            with(2, parts[2] + "AA"), with(3, "+" + parts[3].dropFirst()), with(4, "01"), with(4, "+1"),
            with(4, "9223372036854775808"), with(5, ""), with(5, "Ly9ldmlsLmV4YW1wbGU"), with(5, parts[5] + "="),
            with(5, String(repeating: "A", count: 400)), parts.dropLast().joined(separator: "."),
        ]
        for text in bad { #expect(PendingSignIn(cookieValue: text) == nil, "\(text)") }
    }

    @Test("no way of printing a pending sign-in shows its secrets")
    func printing() throws {
        let pending = try PendingSignIn.make(page: .start, at: Self.now)
        var dumped = ""
        dump(pending, to: &dumped)
        for text in ["\(pending)", String(reflecting: pending), dumped, "\(pending.cookieValue)"] {
            for secret in [pending.state, pending.nonce, pending.verifier] { #expect(!text.contains(secret.reveal)) }
        }
    }

    @Test(
        "a page to return to is a path of the console",
        arguments: [
            ("/", true), ("/customers?q=1", true), ("//evil.example", false), ("/\\evil.example", false),
            ("https://evil.example", false), ("evil", false), ("", false), ("/a b", false), ("/\t/evil.example", false),
            ("/\r\nSet-Cookie: a=b", false), ("/é", false), ("/" + String(repeating: "x", count: 200), false),
        ])
    func pages(path: String, isGood: Bool) { #expect((ReturnPage(path) != nil) == isGood) }

    // MARK: Claims

    private static func person(_ claims: String, claim: String = "groups") throws -> SignedInPerson {
        guard case .object(let members) = try JSONReader.read(Array(claims.utf8)) else { throw IDTokenFault.noSubject }
        return try SignedInPerson(members, roleClaim: claim)
    }

    @Test(
        "a person is shown by the first claim that holds a name",
        arguments: [
            (#""name":"Ada Lovelace","email":"ada@example.com""#, "Ada Lovelace"),
            (#""name":"","preferred_username":" \t","email":"ada@example.com""#, "ada@example.com"),
            (#""name":1,"preferred_username":"ada""#, "ada"), (#""email":null"#, "person-1"),
            (#""name":"  Ada\n\u202eLovelace\u0000 ""#, "Ada??Lovelace?"),
        ])
    func names(claims: String, name: String) throws {
        #expect(try Self.person(#"{"sub":"person-1",\#(claims)}"#).displayName == name)
    }

    @Test("a name of any length and with any number of combining marks is shortened")
    func longNames() throws {
        for name in [String(repeating: "é", count: 10_000), "e" + String(repeating: "\u{301}", count: 10_000)] {
            let shown = try Self.person(#"{"sub":"person-1","name":"\#(name)"}"#).displayName
            #expect((1...100).contains(shown.unicodeScalars.count))
        }
    }

    @Test(
        "the values of the claim for roles are a string or an array of strings",
        arguments: [
            (#""groups":"support""#, ["support"]), (#""groups":["a","b"]"#, ["a", "b"]), (#""other":1"#, []),
            (#""groups":null"#, []), (#""groups":[]"#, []),
        ])
    func groups(claims: String, values: [String]) throws {
        #expect(try Self.person(#"{"sub":"1",\#(claims)}"#).roleValues == values)
    }

    @Test(
        "other values of the claim, and an unusable subject, are refused",
        arguments: [
            (#"{"sub":"1","groups":{"support":true}}"#, IDTokenFault.roleClaim),
            (#"{"sub":"1","groups":["a",1]}"#, .roleClaim), (#"{"sub":"1","groups":true}"#, .roleClaim),
            ("{}", .noSubject), (#"{"sub":""}"#, .noSubject), (#"{"sub":1}"#, .noSubject),
            (#"{"sub":"a\u0000"}"#, .noSubject),
        ])
    func badClaims(claims: String, fault: IDTokenFault) {
        #expect(throws: fault) { try Self.person(claims) }
    }

    @Test("a claim is found by its whole name, dots included")
    func dottedClaim() throws {
        let claims = #"{"sub":"1","https://example.com/roles":["a"]}"#
        #expect(try Self.person(claims, claim: "https://example.com/roles").roleValues == ["a"])
    }

    // MARK: Roles

    @Test("each value gives the roles that name it, byte for byte")
    func roles() {
        let mapping = RoleMapping(["support": ["a", "b"], "auditor": ["b"], "operator": ["\u{E9}"], "marketing": []])
        #expect(mapping.roles(of: ["a"]) == ["support"])
        #expect(mapping.roles(of: ["b", "a", "c"]) == ["support", "auditor"])
        #expect(mapping.roles(of: ["\u{E9}"]) == ["operator"])
        for values in [[], ["A"], ["a "], ["e\u{301}"], [""]] { #expect(mapping.roles(of: values) == []) }
        #expect(RoleMapping([:]).roles(of: ["a"]) == [])
    }
}
