import OfferCore
import SystemPackage

/// The information that a process gets from the last lines of the first file that it opens.
struct AuditOpening {
    /// The number of the last line that marks a break which no one has acknowledged.
    private(set) var openBreak: UInt64?
    /// The chain after the last line with an HMAC.
    private(set) var lastKeyed: AuditChain?
    private var last: AuditLine?
    /// The hash of the line before ``last``; nil if it is unknown.
    private var previous: [UInt8]?
    private let rules: AuditRules

    /// - Parameter tail: the end of the file.
    init(of file: FileDescriptor, _ tail: AuditTail, rules: AuditRules) throws {
        self.rules = rules
        // A line without an HMAC is in order where one is needed only if no line in the whole file has one.
        let isAllRead = rules.needsKey && tail.chain?.isKeyed == false
        let begin = isAllRead ? 0 : max(0, tail.end - AuditTail.searchedSize)
        let read = try AuditTail.forEachLine(of: file, from: begin, to: tail.end) { text, _ in try take(text) }
        guard read == tail.end else {
            throw AuditFault("the audit trail contains a line that is too long", isSetup: true)
        }
    }

    private mutating func take(_ text: ArraySlice<UInt8>) throws {
        previous = last?.hash
        last = AuditLine(text)
        guard let last else { return }
        if last.isKeyed { lastKeyed = last.chain }
        switch last.event {
        case .broken: openBreak = last.number
        case .breakAcknowledged where try isLastAccepted: openBreak = nil
        default: break
        }
    }

    /// Whether the last line continues the line before it. A line about a break may continue an earlier one instead, and
    /// the first line of a file the hash that it contains.
    var isLastAccepted: Bool {
        get throws {
            guard let last else { return false }
            let beginning = last.number == 1 ? AuditChain.beginning.hash : last.previous
            return try [previous, last.lastBeforeBreak, beginning].contains { hash in
                try hash.map { try rules.isLinked(last, to: $0) } ?? false
            }
        }
    }

    /// Refuses a trail whose last line has an HMAC that the key does not give. Processes with different keys would take each
    /// other's lines for forgeries.
    func requireOwnKey(_ path: FilePath) throws {
        guard rules.needsKey, last?.isKeyed == true, try !isLastAccepted else { return }
        throw AuditFault(
            """
            the last line of \(path) was not written with this SUBSCRIPTION_OFFERS_AUDIT_KEY; if the key has changed, \
            stop every process that uses the old key, and rename the file
            """, isSetup: true)
    }

    /// The break that lines without an HMAC after lines with one are; nil if there are none.
    var forgery: AuditBreak? {
        guard rules.needsKey, let last, !last.isKeyed, let lastKeyed else { return nil }
        return AuditBreak(known: lastKeyed, found: last.chain)
    }
}
