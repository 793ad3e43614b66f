import Foundation
import Glibc

@testable import OfferSignerClient

/// Sends each request over a socket of its own, and loses answers as a script says.
///
/// Unlike `URLSession` on Linux, it always notices the end of a connection at once, so ten thousand lost answers take no time limits.
struct LosingTransport: OfferTransport {
    enum Loss: CaseIterable, Sendable {
        /// The request never arrives.
        case request
        /// Half of the request arrives.
        case halfRequest
        /// The client is gone before the service answers, so a repeated request can meet the first one.
        case leavesEarly
        /// The service answers, and nobody hears it.
        case answer
        /// Half of the answer arrives.
        case halfAnswer
    }

    let port: Int
    /// What happens to the next request; nil if it gets its answer.
    let loss: @Sendable () -> Loss?

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        let loss = loss()
        // The calls of sockets block, so they have a thread of their own.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try exchange(request, loss) }) }
        }
    }

    private func exchange(_ request: TransportRequest, _ loss: Loss?) throws -> TransportAnswer {
        guard loss != .request else { throw TransportFailure(.noAnswer, "lost") }
        let socket = try Self.connect(to: port)
        defer { close(socket) }
        let headers = request.headers.map { "\($0): \($1)\r\n" }.joined()
        let message =
            Array(
                """
                POST /\(request.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
                Content-Length: \(request.body.count)\r\n\(headers)\r\n
                """.utf8) + request.body
        try Self.send(loss == .halfRequest ? message.prefix(message.count / 2) : message[...], to: socket)
        guard loss != .halfRequest, loss != .leavesEarly else { throw TransportFailure(.noAnswer, "left early") }
        let answer = Self.receive(from: socket)
        guard loss == nil else { throw TransportFailure(.noAnswer, "lost the answer or half of it") }
        return try Self.parse(answer)
    }

    private static func connect(to port: Int) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw TransportFailure(.noAnswer, "no connection") }
        return socket
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw TransportFailure(.noAnswer, "the connection ended") }
            rest = rest.dropFirst(count)
        }
    }

    private static func receive(from socket: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe recv(socket, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    private static func parse(_ message: [UInt8]) throws -> TransportAnswer {
        guard let end = message.firstRange(of: [13, 10, 13, 10]) else {
            throw TransportFailure(.noAnswer, "the answer is cut")
        }
        var lines = String(decoding: message[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let headers = lines.map {
            $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return TransportAnswer(
            status: status,
            headers: Dictionary(headers.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { first, _ in first },
            body: Data(message[end.upperBound...]))
    }
}
