import AppStoreData
import Foundation
import OfferCrypto

@testable import AppStoreTestSupport

/// A TCP socket on 127.0.0.1.
final class LoopbackSocket {
    struct Failure: Error {}

    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    /// Binds the socket to a free port and returns the port. Unless it listens, it refuses connections.
    /// Even if it listens, it never answers.
    func bindSilently(isListening: Bool) throws -> Int {
        let port = try unsafe withAddress(port: 0) { address, size in
            unsafe bind(descriptor, address, size.pointee) == 0 && getsockname(descriptor, address, size) == 0
        }
        guard !isListening || listen(descriptor, 16) == 0 else { throw Failure() }
        return port
    }

    /// Sends an OCSP request by HTTP and reads the response until the server closes the connection.
    ///
    /// This blocks its thread.
    /// - Parameter seconds: how long the server may stay silent.
    static func post(_ request: [UInt8], toPort port: Int, timeout seconds: Int) throws -> OCSPReply {
        let client = try LoopbackSocket()
        try client.connect(toPort: port, timeout: seconds)
        let head = """
            POST / HTTP/1.0\r
            Content-Type: \(OCSPRequest.mediaType)\r
            Content-Length: \(request.count)\r
            \r\n
            """
        try client.write(Array(head.utf8) + request)
        return try reply(try client.readAll())
    }

    private func connect(toPort port: Int, timeout seconds: Int) throws {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size) == 0 else { throw Failure() }
        do {
            _ = try unsafe withAddress(port: port) { address, size in
                unsafe Foundation.connect(descriptor, address, size.pointee) == 0
            }
        } catch { throw OCSPTransportFailure("connection refused") }
    }

    private func write(_ bytes: [UInt8]) throws {
        guard unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure()
        }
    }

    private func readAll() throws -> [UInt8] {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while case let count = unsafe recv(descriptor, &buffer, buffer.count, 0), count != 0 {
            guard count > 0 else { throw OCSPTransportFailure("timeout") }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    private static func reply(_ response: [UInt8]) throws -> OCSPReply {
        let end = Array("\r\n\r\n".utf8)
        guard let start = response.firstRange(of: end),
            let status = Int(String(decoding: response.dropFirst("HTTP/1.0 ".count).prefix(3), as: UTF8.self))
        else { throw Failure() }
        return OCSPReply(status: status, body: Array(response[start.upperBound...]))
    }

    /// - Returns: the port in the address after the call.
    private func withAddress(
        port: Int, _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Bool
    ) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDone = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &size) }
        }
        guard isDone else { throw Failure() }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
