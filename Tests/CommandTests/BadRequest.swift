/// A request that the service must not sign.
struct BadRequest: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The allowed statuses of the response.
    let statuses: Set<Int>
    /// Whether the connection may close without a response.
    var mayHangUp = false

    static let goodBody =
        #"{"appBundleID":"com.example.app","productIdentifier":"pro","offerID":"offer","applicationUsername":"user"}"#

    /// A request for an offer, which the service signs.
    static let goodPost = "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(json)\r\n\(length)\r\n\r\n\(goodBody)"

    static func raw(_ name: String, _ text: String, _ statuses: Set<Int> = [400]) -> BadRequest {
        BadRequest(name: name, bytes: Array(text.utf8), statuses: statuses)
    }

    /// A well-framed `POST /offer` with an invalid body.
    static func body(_ name: String, _ text: String) -> BadRequest { body(name, bytes: Array(text.utf8)) }

    static func body(_ name: String, bytes: [UInt8]) -> BadRequest {
        let head =
            "POST /offer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(bytes.count)\r\n\r\n"
        return BadRequest(name: name, bytes: Array(head.utf8) + bytes, statuses: [400])
    }

    /// A valid body with one field's JSON replaced.
    static func field(_ name: String, _ field: String, _ json: String) -> BadRequest {
        let members = [
            "appBundleID": #""a""#, "productIdentifier": #""p""#, "offerID": #""o""#, "applicationUsername": #""u""#,
        ].merging([field: json]) { $1 }
        let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return body(name, "{\(text)}")
    }

    /// This request line and these headers, followed by a valid body.
    static func framed(_ name: String, _ line: String, _ headers: [String], _ statuses: Set<Int>) -> BadRequest {
        raw(name, ([line, "Host: localhost"] + headers).joined(separator: "\r\n") + "\r\n\r\n" + goodBody, statuses)
    }

    static let json = "Content-Type: application/json"
    static let length = "Content-Length: \(goodBody.utf8.count)"

    static let all: [BadRequest] =
        framing.map(\.hangingUp) + sizes.map(\.hangingUp) + methodsAndPaths + mediaTypes + jsonTexts + fields + queries

    private var hangingUp: BadRequest {
        var request = self
        request.mayHangUp = true
        return request
    }

    static let framing: [BadRequest] = [
        raw("not HTTP", "hello\r\n\r\n"),
        raw("TLS on a plain port", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\r\n\r\n"),
        raw("a request line without a method", " / HTTP/1.1\r\n\r\n"),
        framed("no version", "POST /offer", [json, length], [400]),
        framed("an unknown version", "POST /offer HTTP/9.9", [json, length], [400]),
        framed(
            "a space before the colon", "POST /offer HTTP/1.1", ["Content-Type : application/json", length], [400]),
        framed("a header without a colon", "POST /offer HTTP/1.1", ["nonsense", json, length], [400]),
        framed("a NUL in a header", "POST /offer HTTP/1.1", ["X-A: a\u{0}b", json, length], [400]),
        framed("two different lengths", "POST /offer HTTP/1.1", [json, length, "Content-Length: 5"], [400]),
        framed("a negative length", "POST /offer HTTP/1.1", [json, "Content-Length: -1"], [400]),
        framed("a non-numeric length", "POST /offer HTTP/1.1", [json, "Content-Length: ten"], [400]),
        framed(
            "a length beyond 64 bits", "POST /offer HTTP/1.1", [json, "Content-Length: 99999999999999999999999"], [400]),
        framed(
            "a length and a transfer coding", "POST /offer HTTP/1.1", [json, length, "Transfer-Encoding: chunked"],
            [400]),
        framed("a non-numeric chunk size", "POST /offer HTTP/1.1", [json, "Transfer-Encoding: chunked"], [400]),
        framed("an unknown transfer coding", "POST /offer HTTP/1.1", [json, "Transfer-Encoding: gzip"], [400]),
        framed(
            "a transfer coding before chunked", "POST /offer HTTP/1.1", [json, "Transfer-Encoding: gzip, chunked"],
            [400]),
        framed("two Host headers", "POST /offer HTTP/1.1", ["Host: b", json, length], [400]),
        raw("no Host header", "POST /offer HTTP/1.1\r\n\(json)\r\n\(length)\r\n\r\n\(goodBody)"),
        framed("an unknown expectation", "POST /offer HTTP/1.1", ["Expect: a coupon", json, length], [400]),
        raw(
            "a truncated body",
            "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(json)\r\n\(length)\r\n\r\n{\"appBundleID\":"),
        raw(
            "a truncated chunk",
            "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(json)\r\nTransfer-Encoding: chunked\r\n\r\nFF\r\n{}"),
        raw("truncated headers", "POST /offer HTTP/1.1\r\nHost: localhost\r\nContent-"),
        framed("no body and no length", "POST /offer HTTP/1.1", [json], [400]),
    ]

    /// Whether the connection stays open because the request was read in full.
    var staysOpen: Bool {
        statuses == [404] || statuses == [405] && String(decoding: bytes, as: UTF8.self).contains("Length")
    }

    static let methodsAndPaths: [BadRequest] = [
        framed("PUT", "PUT /offer HTTP/1.1", [json, length], [405]),
        framed("DELETE", "DELETE /offer HTTP/1.1", [json, length], [405]),
        framed("PATCH", "PATCH /v1/promotional-offers HTTP/1.1", [json, length], [405]),
        framed("OPTIONS", "OPTIONS /offer HTTP/1.1", [json, length], [405]),
        framed("TRACE", "TRACE /offer HTTP/1.1", [json, length], [405]),
        framed("a lowercase method", "post /offer HTTP/1.1", [json, length], [400, 405]),
        framed("an unknown method", "SIGN /offer HTTP/1.1", [json, length], [400, 405]),
        framed("GET on a route that takes only POST", "GET /v1/promotional-offers HTTP/1.1", [], [405]),
        framed("POST to health", "POST /health/live HTTP/1.1", [json, length], [405]),
        framed("an unknown path", "POST /offers HTTP/1.1", [json, length], [404]),
        framed("an uppercase path", "POST /OFFER HTTP/1.1", [json, length], [404]),
        framed("a trailing slash", "POST /offer/ HTTP/1.1", [json, length], [404]),
        framed("a path with dot segments", "POST /v1/../offer HTTP/1.1", [json, length], [404]),
        framed("a percent-encoded path", "POST /%6Fffer HTTP/1.1", [json, length], [404]),
        framed("an asterisk as the target", "POST * HTTP/1.1", [json, length], [400, 404]),
    ]

    static let sizes: [BadRequest] = [
        framed("a Content-Length that is too large", "POST /offer HTTP/1.1", [json, "Content-Length: 32769"], [413]),
        body("a body that is one byte too large", String(repeating: " ", count: 32769)).expecting([413]),
        raw(
            "a chunked body that is too large",
            "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(json)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "1000\r\n" + String(repeating: " ", count: 4096) + "\r\n", count: 9) + "0\r\n\r\n",
            [413]),
        framed(
            "a header of 100 kB", "POST /offer HTTP/1.1",
            ["X-A: " + String(repeating: "a", count: 100_000), json, length], [400, 431]),
        framed(
            "a target of 100 kB", "POST /offer?" + String(repeating: "a", count: 100_000) + " HTTP/1.1",
            [json, length], [400, 414]),
        raw(
            "2,000 headers",
            "POST /offer HTTP/1.1\r\n" + String(repeating: "X-A: a\r\n", count: 2000) + "\r\n", [400, 431]),
    ]

    static let mediaTypes: [BadRequest] = [
        framed("no media type", "POST /offer HTTP/1.1", [length], [415]),
        framed(
            "a form's media type", "POST /offer HTTP/1.1", ["Content-Type: application/x-www-form-urlencoded", length],
            [415]),
        framed("two media types", "POST /offer HTTP/1.1", [json, "Content-Type: text/plain", length], [415]),
        framed(
            "a UTF-16 charset", "POST /offer HTTP/1.1", ["Content-Type: application/json; charset=utf-16", length],
            [415]),
        framed("a gzip content coding", "POST /offer HTTP/1.1", [json, "Content-Encoding: gzip", length], [415]),
    ]

    static let jsonTexts: [BadRequest] = [
        body("an empty body", ""),
        body("only white space", "   "),
        body("not JSON", "appBundleID=com.example.app"),
        body("an array", "[\(goodBody)]"),
        body("a string", "\"offer\""),
        body("a number", "1"),
        body("null", "null"),
        body("truncated JSON", String(goodBody.dropLast())),
        body("a trailing comma", goodBody.dropLast() + ",}"),
        body("a trailing NUL", goodBody + "\u{0}"),
        body("two objects", goodBody + goodBody),
        body("a comment", goodBody + "// offer"),
        body("a byte-order mark", "\u{FEFF}" + goodBody),
        body("a duplicate name", goodBody.dropLast() + #","offerID":"other"}"#),
        body("a duplicate name with an escape", goodBody.dropLast() + #","offer\u0049D":"other"}"#),
        body("single quotes", goodBody.replacing("\"", with: "'")),
        body("NaN", goodBody.dropLast() + #","a":NaN}"#),
        body(
            "1,000 nested arrays",
            goodBody.dropLast() + ",\"a\":" + String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
                + "}"),
        body("1,000 members", goodBody.dropLast() + (0..<1000).map { ",\"\($0)\":1" }.joined() + "}"),
        body("UTF-16", bytes: goodBody.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }),
        body("a truncated UTF-8 sequence", bytes: Array(goodBody.utf8).dropLast(2) + [0xC3, 0x22, 0x7D]),
        body("an overlong encoding", bytes: Array(goodBody.utf8).dropLast(2) + [0xC0, 0x80, 0x22, 0x7D]),
        body("a surrogate in UTF-8", bytes: Array(goodBody.utf8).dropLast(2) + [0xED, 0xA0, 0x80, 0x22, 0x7D]),
        body("a raw control character", goodBody.replacing("user", with: "us\u{1}er")),
    ]

    static let fields: [BadRequest] = [
        body("no fields", "{}"),
        body("no username", #"{"appBundleID":"a","productIdentifier":"p","offerID":"o"}"#),
        body(
            "both customer fields", goodBody.dropLast() + #","appAccountToken":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"}"#
        ),
        body("both product names", goodBody.dropLast() + #","productID":"pro"}"#),
        body(
            "a token that is not a UUID",
            #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","appAccountToken":"me"}"#),
        field("an empty bundle ID", "appBundleID", #""""#),
        field("null as a bundle ID", "appBundleID", "null"),
        field("a number as a product", "productIdentifier", "1"),
        field("an array as an offer", "offerID", #"["o"]"#),
        field("an object as a username", "applicationUsername", "{}"),
        field("false as a username", "applicationUsername", "false"),
        field("the separator in the bundle ID", "appBundleID", "\"a\u{2063}b\""),
        field("an escaped separator", "productIdentifier", #""a\u2063b""#),
        field("the separator before a combining mark", "offerID", "\"a\u{2063}\u{301}b\""),
        field("the separator after a combining mark", "applicationUsername", "\"e\u{301}\u{2063}\""),
        field("the separator and a variation selector", "applicationUsername", "\"\u{2063}\u{FE0F}\""),
        field("the separator between joiners", "applicationUsername", "\"\u{200D}\u{2063}\u{200D}\""),
        field("an escaped NUL", "offerID", #""a\u0000b""#),
        field("an escaped line feed", "offerID", #""a\nb""#),
        field("DEL", "offerID", "\"a\u{7F}\""),
        field("a C1 control character", "offerID", "\"a\u{85}\""),
        field("a line separator", "offerID", "\"a\u{2028}\""),
        field("a lone surrogate", "offerID", #""\ud800""#),
        field("a very long username", "applicationUsername", "\"\(String(repeating: "x", count: 5000))\""),
        field("a key ID from the caller", "keyID", #""ABCDE12345""#),
        field("a nonce from the caller", "nonce", #""7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b""#),
        field("a timestamp from the caller", "timestamp", "1767225600000"),
    ]

    static let queries: [BadRequest] = [
        raw("a query that lacks fields", "GET /offer?appBundleID=a HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        raw("neither query nor body", "GET /offer HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        raw(
            "a duplicate name in the query",
            "GET /offer?appBundleID=a&appBundleID=a&productID=p&offerID=o&applicationUsername= HTTP/1.1\r\nHost: localhost\r\n\r\n"
        ),
        raw(
            "an unescaped plus sign",
            "GET /offer?appBundleID=a&productID=p&offerID=o+o&applicationUsername= HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        raw(
            "an incomplete percent escape",
            "GET /offer?appBundleID=a&productID=p&offerID=%E&applicationUsername= HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        raw(
            "the separator in the query",
            "GET /offer?appBundleID=a&productID=p&offerID=%E2%81%A3&applicationUsername= HTTP/1.1\r\nHost: localhost\r\n\r\n"
        ),
        raw(
            "invalid UTF-8 in the query",
            "GET /offer?appBundleID=a&productID=p&offerID=%FF&applicationUsername= HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        framed("a query together with a body", "POST /offer?offerID=other HTTP/1.1", [json, length], [400]),
    ]

    private func expecting(_ statuses: Set<Int>) -> BadRequest {
        BadRequest(name: name, bytes: bytes, statuses: statuses)
    }
}
