import NIOCore
import OfferHTTP
import OfferIdentity

extension FuzzTarget {
    /// The HTTP request reader. Its result must not depend on how the bytes are split.
    ///
    /// The first four bytes of the input are the piece sizes minus one, used in rotation. The rest is what the client
    /// sends.
    static let requestReader = FuzzTarget("request-reader") { input throws(BrokenPromise) in
        let sizes = input.prefix(4).map { Int($0) + 1 }
        guard sizes.count == 4 else { return }
        let sent = Array(input.dropFirst(4))
        let whole = Reading([sent])
        let inPieces = Reading(pieces(of: sent, sizes: sizes))
        try promise("the result does not depend on how the input is split", whole == inPieces)
        for (head, body) in zip(whole.heads, whole.bodies) {
            try promise("a body is within the size limit", body.count <= HTTPRequest.maximumBodySize)
            switch head.framing {
            case .length(let length): try promise("a body has the announced length", body.count == length)
            case .chunked: break
            }
            try promise(
                "a method is one word", !head.method.isEmpty && head.method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            try promise(
                "a host has no white space and no port",
                head.host.map { host in
                    host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && (host.hasPrefix("[") || !host.contains(":"))
                } ?? true)
            try promise("a target has no white space", head.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
    }

    private static func pieces(of bytes: [UInt8], sizes: [Int]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(sizes[pieces.count % sizes.count])
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    /// The requests read from the pieces, up to the first problem.
    private struct Reading: Equatable {
        private(set) var heads: [RequestHead] = []
        private(set) var bodies: [[UInt8]] = []
        private var problem: RequestFault?

        init(_ pieces: [[UInt8]]) {
            var reader = RequestReader()
            do throws(RequestFault) {
                for piece in pieces {
                    reader.add(ByteBuffer(bytes: piece))
                    while let event = try reader.next() {
                        // Skips `expectsContinue`, which depends on how much of the body has arrived.
                        guard case .request(let head, let body) = event else { continue }
                        heads.append(head)
                        bodies.append(body)
                    }
                }
            } catch {
                problem = error
            }
        }

        /// Compares heads by their printed form, which shows every member.
        static func == (one: Reading, other: Reading) -> Bool {
            one.problem == other.problem && one.bodies == other.bodies
                && one.heads.map { "\($0)" } == other.heads.map { "\($0)" }
        }
    }
}
