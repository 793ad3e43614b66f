import NIOHPACK
import OfferHTTP
import Testing

/// The headers of browsers, and the responses that are made for them.
@Suite("Browsers")
struct BrowserHeadersTests {
    /// Answers with the headers that it received, one on each line.
    private struct Echo: Responder {
        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
            let browser = request.browser
            let lines =
                browser.map { ["\($0.cookies)", "\($0.fetchSite ?? "none")", "\($0.origin ?? "none")"] } ?? [
                    "no browser"
                ]
            var response = HTTPResponse(
                status: 303, mediaType: .html, body: Array(lines.joined(separator: "\n").utf8))
            response.lifetime = request.path == "/kept" ? 600 : nil
            response.browserHeaders = [
                HTTPResponse.Header("Location", "/a"), HTTPResponse.Header("Set-Cookie", "a=1\r\nEvil: 1"),
                HTTPResponse.Header("Set-Cookie", "b=2"),
            ]
            return .now(response)
        }

        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse { .noContent }
    }

    private static let headers = """
        Cookie: a=1; b=2\r
        cookie: c=3\r
        Sec-Fetch-Site: same-origin\r
        Origin: https://console.example\r

        """

    private static func answer(_ headers: String, at path: String = "/") throws -> String {
        try EmbeddedServer(Echo()).answerHTTP1("GET \(path) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n")
    }

    @Test("cookies, the site of the sender and the origin are read")
    func read() throws {
        let text = try Self.answer(Self.headers)
        #expect(text.hasSuffix("\r\n\r\n[\"a=1; b=2\", \"c=3\"]\nsame-origin\nhttps://console.example"))
        #expect(try Self.answer("").hasSuffix("\r\n\r\nno browser"))
    }

    @Test("a header that must be unique and is not has no value")
    func repeated() throws {
        let text = try Self.answer(
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: same-origin\r\nOrigin: a\r\nOrigin: b\r\n")
        #expect(text.hasSuffix("\r\n\r\n[]\n\n"))
    }

    @Test("over HTTP/2 they are the same")
    func http2() throws {
        let frames = try EmbeddedServer(Echo()).answerHTTP2([
            ":method": "GET", ":scheme": "https", ":authority": "a", ":path": "/", "cookie": "a=1; b=2",
            "cookie": "c=3", "sec-fetch-site": "same-origin", "origin": "https://console.example",
        ])
        #expect(frames.count == 2)
        #expect(
            frames.last.map { String(decoding: $0.payload, as: UTF8.self) }
                == "[\"a=1; b=2\", \"c=3\"]\nsame-origin\nhttps://console.example")
        let headers = try EmbeddedServer.headers(of: #require(frames.first))
        #expect(headers["set-cookie"] == ["a=1Evil: 1", "b=2"])
        #expect(headers["location"] == ["/a"])
    }

    @Test("a response can redirect, set cookies and be kept, and no value begins another header")
    func written() throws {
        let head = try #require(Self.answer("").split(separator: "\r\n\r\n").first)
        let lines = head.split(separator: "\r\n")
        #expect(lines.first == "HTTP/1.1 303 See Other")
        #expect(lines.contains("Content-Type: text/html; charset=utf-8"))
        #expect(lines.contains("Location: /a"))
        #expect(lines.filter { $0.hasPrefix("Set-Cookie") } == ["Set-Cookie: a=1Evil: 1", "Set-Cookie: b=2"])
        #expect(lines.contains("Cache-Control: no-store"))
        #expect(try Self.answer("", at: "/kept").contains("\r\nCache-Control: private, max-age=600\r\n"))
    }
}
