import Foundation
import NIOCore
import NIOPosix

/// A TCP connection that lets a test control every byte it sends.
package struct Connection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received = ByteBuffer()

    /// Opens a connection to 127.0.0.1, passes it to `body` and closes it.
    package static func open<Result>(
        port: Int, _ body: (inout Connection) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var connection = Connection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            return try await body(&connection)
        }
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    package func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    package func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Closes the sending side, so the server sees the end of the stream.
    package func finishSending() { outbound.finish() }

    /// Receives the next response; nil if the server closed the connection.
    package mutating func receive() async throws -> ReceivedResponse? {
        while true {
            if let answer = try ReceivedResponse(takingFrom: &received) { return answer }
            do {
                guard let next = try await inbound.next() else { return nil }
                received.writeImmutableBuffer(next)
            } catch {
                return nil  // reset by the server
            }
        }
    }

    /// Receives the next response without a body, ignoring its Content-Length.
    package mutating func receiveHead() async throws -> ReceivedResponse? {
        while true {
            if let answer = try ReceivedResponse(takingFrom: &received, hasBody: false) { return answer }
            guard let next = try await inbound.next() else { return nil }
            received.writeImmutableBuffer(next)
        }
    }

    /// Whether the server has closed the connection with nothing left to receive.
    package var isAtEnd: Bool {
        mutating get async throws { try await receive() == nil && received.readableBytes == 0 }
    }

    /// Returns a closure that sends `bytes` repeatedly, for another task to run while this one does not read.
    package func flood(of bytes: [UInt8], times: Int) -> @Sendable () async throws -> Void {
        let outbound = outbound
        return { for _ in 0..<times { try await outbound.write(ByteBuffer(bytes: bytes)) } }
    }

    /// Sends `POST` with a JSON body and waits for the response.
    /// - Parameter headers: additional header lines, each ending in CRLF.
    package mutating func post(
        _ path: String, json: String, headers: String = ""
    ) async throws -> ReceivedResponse? {
        try await send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Type: application/json\r\n"
                + "Content-Length: \(json.utf8.count)\r\n\r\n\(json)")
        return try await receive()
    }

    /// - Parameter headers: additional header lines, each ending in CRLF.
    package mutating func get(_ target: String, headers: String = "") async throws -> ReceivedResponse? {
        try await send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
        return try await receive()
    }
}

/// A response received from the service.
package struct ReceivedResponse: Sendable {
    package struct Malformed: Error {}

    package let status: Int
    /// The headers, keyed by lowercase name.
    package let headers: [String: String]
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The members of the body, parsed by Foundation rather than by our own reader.
    package var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    }

    /// - Returns: nil until the response is complete.
    init?(takingFrom buffer: inout ByteBuffer, hasBody: Bool = true) throws {
        let bytes = Array(buffer.readableBytesView)
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let statusLine = lines.first?.split(separator: " "), statusLine.count >= 2,
            statusLine[0] == "HTTP/1.1", let status = Int(statusLine[1])
        else { throw Malformed() }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Malformed() }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        guard bytes.count >= end.upperBound + length else { return nil }
        self.status = status
        self.headers = headers
        body = Array(bytes[end.upperBound..<end.upperBound + length])
        buffer.moveReaderIndex(forwardBy: end.upperBound + length)
    }
}
