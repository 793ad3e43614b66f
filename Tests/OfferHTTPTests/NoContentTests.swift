import NIOHPACK
import OfferHTTP
import Testing

/// A 204 has no content, so it has neither Content-Type nor Content-Length (RFC 9110 section 8.6).
@Suite("A response without content")
struct NoContentTests {
    private struct NoContent: Responder {
        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply { .now(.noContent) }
        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse { .noContent }
    }

    @Test("over HTTP/1.1 it ends with its head, and the next response follows")
    func http1() throws {
        let text = try EmbeddedServer(NoContent())
            .answerHTTP1(String(repeating: "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", count: 2))
        let heads = text.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
        #expect(heads.count == 3 && heads.last == "")
        for head in heads.dropLast() {
            #expect(head.hasPrefix("HTTP/1.1 204 No Content\r\n"))
            #expect(head.contains("Cache-Control: no-store") && head.contains("Date: "))
            #expect(!head.lowercased().contains("content-"))
        }
    }

    @Test("over HTTP/2 the headers end the stream")
    func http2() throws {
        let frames = try EmbeddedServer(NoContent())
            .answerHTTP2([":method": "PUT", ":scheme": "https", ":authority": "a", ":path": "/"])
        #expect(frames.count == 1, "no DATA follows")
        let frame = try #require(frames.first)
        #expect(frame.type == 1 && frame.flags & 1 == 1)
        let fields = try EmbeddedServer.headers(of: frame)
        #expect(fields.first(name: ":status") == "204")
        #expect(!fields.contains { $0.name.hasPrefix("content-") })
    }
}
