import Foundation
import Glibc

/// A proxy on 127.0.0.1 that loses, cuts, delays or replaces answers, as a script says.
final class FaultyProxy: Sendable {
    enum Fault: Sendable {
        case none
        /// The request never arrives.
        case loseRequest
        /// The service answers, and nobody hears it.
        case loseAnswer
        /// The client is gone before the service answers, so a repeated request can meet the first one.
        case leaveEarly
        /// Half of the answer arrives.
        case cutAnswer
        /// The answer arrives byte by byte.
        case trickle
        /// No answer ever arrives, and the connection stays open.
        case silence
        /// This text arrives instead of an answer.
        case says(String)
    }

    let port: Int
    private let listener: Int32
    private let upstream: Int
    private let fault: @Sendable (Int) -> Fault
    private let lock = NSLock()
    // Every access holds the lock.
    private nonisolated(unsafe) var count = 0

    /// - Parameters:
    ///   - upstream: the port of the service.
    ///   - fault: what happens to each request, by its number from 0.
    init(to upstream: Int, fault: @escaping @Sendable (Int) -> Fault) {
        self.upstream = upstream
        self.fault = fault
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        port = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                precondition(unsafe bind(listener, pointer, length) == 0 && listen(listener, 64) == 0)
                precondition(unsafe getsockname(listener, pointer, &length) == 0)
            }
            return unsafe Int(in_port_t(bigEndian: pointer.pointee.sin_port))
        }
        Thread.detachNewThread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    /// Stops accepting connections. The thread keeps this object until then.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The number of requests so far.
    var requests: Int {
        lock.lock()
        defer { lock.unlock() }
        return unsafe count
    }

    private func next() -> Int {
        lock.lock()
        defer { lock.unlock() }
        defer { unsafe count += 1 }
        return unsafe count
    }

    private func serve(_ client: Int32) {
        var isOpen = true
        func leave() {
            if isOpen { close(client) }
            isOpen = false
        }
        defer { leave() }
        while isOpen, let request = Self.message(from: client) {
            switch fault(next()) {
            case .none:
                guard let answer = exchange(request) else { return }
                Self.send(answer, to: client)
            case .loseRequest: return
            case .loseAnswer:
                _ = exchange(request)
                return
            case .leaveEarly:
                leave()
                _ = exchange(request)
            case .cutAnswer:
                guard let answer = exchange(request) else { return }
                Self.send(Array(answer.prefix(answer.count / 2)), to: client)
                return
            case .trickle:
                guard let answer = exchange(request) else { return }
                for byte in answer { Self.send([byte], to: client) }
            case .silence: _ = Self.message(from: client)
            case .says(let text):
                Self.send(Array(text.utf8), to: client)
                return
            }
        }
    }

    private func exchange(_ request: [UInt8]) -> [UInt8]? {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = Self.address(port: upstream)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(server, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        Self.send(request, to: server)
        return Self.message(from: server)
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Reads one HTTP message with its body.
    /// - Returns: nil if the connection ends first.
    private static func message(from socket: Int32) -> [UInt8]? {
        var message: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var mayContinue = false
        while true {
            if let end = message.firstRange(of: [13, 10, 13, 10]) {
                guard !message.starts(with: "HTTP/1.1 100".utf8) else {
                    message.removeFirst(end.upperBound)
                    continue
                }
                let head = String(decoding: message[..<end.lowerBound], as: UTF8.self).lowercased()
                let length = head.firstMatch(of: /content-length: *([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
                if message.count >= end.upperBound + length { return message }
                // libcurl asks before it sends a long body.
                if head.contains("expect: 100-continue"), !mayContinue {
                    send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: socket)
                    mayContinue = true
                }
            }
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            message += buffer[..<count]
        }
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
