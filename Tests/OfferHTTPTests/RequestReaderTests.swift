import NIOCore
import NIOEmbedded
import NIOHTTP1
import OfferHTTP
import TestSupport
import Testing

@Suite("Request reader")
struct RequestReaderTests {
    private struct Request: Equatable {
        let method: String
        let target: String
        let body: [UInt8]
        let isLast: Bool
    }

    /// Our reader's result for these pieces: the requests up to the first problem, and the problem.
    private static func ours(_ pieces: [[UInt8]]) -> (requests: [Request], problem: RequestFault?) {
        var reader = RequestReader()
        var requests: [Request] = []
        do throws(RequestFault) {
            for piece in pieces {
                reader.add(ByteBuffer(bytes: piece))
                while let event = try reader.next() {
                    guard case .request(let head, let body) = event else { continue }
                    requests.append(
                        Request(method: head.method, target: head.target, body: body, isLast: head.isLast))
                    if head.isLast { return (requests, nil) }
                }
            }
            return (requests, nil)
        } catch {
            return (requests, error)
        }
    }

    private static let get = "GET /offer?a=b HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let post =
        "POST /offer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nbody"
    private static let chunked =
        "POST /v1/x HTTP/1.1\r\nhost:a\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n"

    @Test("requests split into pieces of any size are read correctly", arguments: 1..<60)
    func pieces(size: Int) {
        let bytes = Array((Self.get + "\r\n" + Self.post + Self.chunked + Self.get).utf8)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        let (requests, problem) = Self.ours(pieces)
        #expect(problem == nil)
        #expect(requests.map(\.target) == ["/offer?a=b", "/offer", "/v1/x", "/offer?a=b"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "body", "abc0123456789", ""])
    }

    @Test("a path can accept larger bodies than others, with a length or in chunks")
    func bodySizes() throws {
        let usual = HTTPRequest.maximumBodySize
        func outcome(_ path: String, _ size: Int, isChunked: Bool) -> Result<Int, RequestFault> {
            var reader = RequestReader { $0 == "/large" ? 2 * usual : usual }
            let body = String(repeating: "x", count: size)
            let framed =
                isChunked
                ? "Transfer-Encoding: chunked\r\n\r\n\(String(size, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                : "Content-Length: \(size)\r\n\r\n\(body)"
            reader.add(ByteBuffer(string: "POST \(path) HTTP/1.1\r\nHost: a\r\n\(framed)"))
            do throws(RequestFault) {
                guard case .request(_, let body) = try reader.next() else { return .failure(.timedOut) }
                return .success(body.count)
            } catch { return .failure(error) }
        }
        for isChunked in [false, true] {
            for path in ["/large", "/large?a=b"] {
                #expect(outcome(path, 2 * usual, isChunked: isChunked) == .success(2 * usual))
                #expect(outcome(path, 2 * usual + 1, isChunked: isChunked) == .failure(.bodyTooLarge))
            }
            for path in ["/", "/larger", "/large/", "/other?/large"] {
                #expect(outcome(path, usual, isChunked: isChunked) == .success(usual))
                #expect(outcome(path, usual + 1, isChunked: isChunked) == .failure(.bodyTooLarge))
            }
        }
    }

    @Test(
        "malformed and ambiguous requests are refused",
        arguments: [
            "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\rb: c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\u{0}\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "GET / http/1.1\r\nHost: a\r\n\r\n", "GET /\r\n\r\n",
            "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", "GET /ü HTTP/1.1\r\nHost: a\r\n\r\n",
            "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n \r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx\r\n\r\n",
            "\u{16}\u{3}\u{1}", "\n", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 101\r\n\r\n",
        ])
    func refused(text: String) {
        let (requests, problem) = Self.ours([Array(text.utf8)])
        #expect(requests == [])
        #expect(problem == .malformed)
    }

    /// The host of a single request; nil if it is refused or names none.
    private static func host(_ text: String) throws -> String? {
        var reader = RequestReader()
        reader.add(ByteBuffer(string: text))
        guard case .request(let head, _)? = try reader.next() else { return nil }
        return head.host
    }

    @Test(
        "the host is read without its port",
        arguments: [
            ("a", "a"), ("Example.COM", "Example.COM"), ("a:8080", "a"), ("a:", "a"), ("a:99999999", "a"), ("", ""),
            (":80", ""), ("127.0.0.1:80", "127.0.0.1"), ("[::1]", "[::1]"), ("[2001:db8::1]:443", "[2001:db8::1]"),
            ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"), ("a_b~c!$&'()*+,;=-.d", "a_b~c!$&'()*+,;=-.d"),
            ("%C3%bc.example", "%C3%bc.example"),
        ])
    func hosts(text: String, host: String) throws {
        #expect(try Self.host("GET / HTTP/1.1\r\nHost: \(text)\r\n\r\n") == host)
        #expect(try Self.host("GET / HTTP/1.0\r\nHost: \(text)\r\n\r\n") == host)
    }

    @Test("HTTP/1.0 needs no host, and an absolute URL takes precedence over Host")
    func hostOfTarget() throws {
        #expect(try Self.host("GET / HTTP/1.0\r\n\r\n") == nil)
        for (url, host) in [
            ("http://a", "a"), ("HTTPS://b:1/x?y", "b"), ("http://[::1]:1?x", "[::1]"), ("http://a?http://b", "a"),
        ] {
            #expect(try Self.host("GET \(url) HTTP/1.1\r\nHost: other\r\n\r\n") == host)
            #expect(try Self.host("GET \(url) HTTP/1.0\r\n\r\n") == host)
        }
    }

    @Test(
        "a malformed host is refused",
        arguments: [
            "a b", "a, b", "a/b", "a@b", "a:b", "a:1:2", "a:+1", "[::1", "::1]", "[]", "[a]", "[1.2.3.4]", "[::1]a",
            "[::1%25eth0]", "[v1.a]", "%", "%4", "%zz", "a%4", "a#b", "a?b", "a\\b", "\"a\"", "<a>", "a|b", "ü", "a\tb",
        ])
    func malformedHost(text: String) {
        for request in [
            "GET / HTTP/1.1\r\nHost: \(text)\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: \(text)\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: \(text)\r\n\r\n",
        ] {
            #expect(Self.ours([Array(request.utf8)]).problem == .malformed)
        }
    }

    @Test(
        "an absolute URL with a malformed or empty authority is refused",
        arguments: [
            "http://", "http:///x", "http://?x", "http://:80/", "http://a@b/", "https://[::1/", "http://a:b/",
            "http://a#b",
        ])
    func malformedURL(url: String) {
        #expect(Self.ours([Array("GET \(url) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)]).problem == .malformed)
    }

    @Test("oversized heads, bodies and trailers, and heads with too many lines, are refused")
    func bounds() {
        let long = String(repeating: "a", count: RequestHead.maximumSize)
        let lines = String(repeating: "a: b\r\n", count: 100)
        for text in [
            "GET /\(long)", "GET / HTTP/1.1\r\nHost: a\r\na: \(long)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: lines, count: 700))\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\(long)",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: "a: \(String(repeating: "b", count: 200))\r\n", count: 30),
        ] {
            #expect(Self.ours([Array(text.utf8)]).problem == .malformed)
        }
        for framing in ["Content-Length: 32769", "Content-Length: 999999999999999999", "Transfer-Encoding: chunked"] {
            let text = "POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\nFFFFFFFF\r\n"
            #expect(Self.ours([Array(text.utf8)]).problem == .bodyTooLarge, "\(framing)")
        }
    }

    /// The result of NIO's parser (llhttp) for the same bytes.
    /// - Parameter pieces: an error in a piece discards that piece's valid requests.
    private static func theirs(_ pieces: [[UInt8]]) -> [Request] {
        let channel = EmbeddedChannel(
            handler: ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        for piece in pieces where (try? channel.writeInbound(ByteBuffer(bytes: piece))) == nil { break }
        var requests: [Request] = []
        var head: HTTPRequestHead?
        var body: [UInt8] = []
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let next): (head, body) = (next, [])
            case .body(let more): body += Array(more.readableBytesView)
            case .end:
                guard let head else { continue }
                requests.append(
                    Request(method: head.method.rawValue, target: head.uri, body: body, isLast: !head.isKeepAlive))
            }
        }
        return requests
    }

    @Test(
        "NIO's parser agrees on every request that we accept out of 100,000 damaged ones",
        arguments: [1, 2] as [UInt64])
    func agreesWithNIO(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let seeds = [Self.get, Self.post, Self.chunked, Self.post + Self.get, Self.chunked + Self.post].map {
            Array($0.utf8)
        }
        let marks = Array("\r\n :;,0159aAfF\t\u{0}\u{7F}/HTPCKE".utf8) + [0x80, 0xFF]
        var taken = 0
        for round in 0..<50_000 {
            if round % 256 == 0 { await Task.yield() }
            var bytes = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = marks.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(marks.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let ours = Self.ours([bytes]).requests
            var theirs = Self.theirs([bytes])
            if theirs.count < ours.count { theirs = Self.theirs(bytes.map { [$0] }) }
            taken += ours.count
            // NIO may accept more requests than we do, but must read those we accept in the same way.
            for (our, their) in zip(ours, theirs) {
                guard (our.method, our.body) == (their.method, their.body), our.target == their.target else {
                    Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(our) and \(their)")
                    return
                }
            }
            // NIO knows a fixed set of methods. Our reader accepts any token, and the router refuses unknown methods.
            guard ours.count <= theirs.count || !["GET", "POST"].contains(ours[theirs.count].method) else {
                Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(ours) and \(theirs)")
                return
            }
        }
        #expect(taken > 10_000)
    }
}
