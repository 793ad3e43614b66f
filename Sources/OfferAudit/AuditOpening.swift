import OfferCore
import SystemPackage

/// The state that a process reads from the last lines of the first file that it opens.
struct AuditOpening {
    /// The number of the last line that marks an unacknowledged break.
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
        // If lines need an HMAC, a last line without one is acceptable only if no line in the whole file has one.
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

    /// True if the last line continues the line before it. A line that marks a break may continue an earlier line
    /// instead. The first line of a file continues the hash that it contains.
    var isLastAccepted: Bool {
        get throws {
            guard let last else { return false }
            let beginning = last.number == 1 ? AuditChain.beginning.hash : last.previous
            return try [previous, last.lastBeforeBreak, beginning].contains { hash in
                try hash.map { try rules.isLinked(last, to: $0) } ?? false
            }
        }
    }

    /// Refuses a trail if the HMAC of its last line was not made with this key. Processes with different keys would
    /// take each other's lines for forgeries.
    func requireOwnKey(_ path: FilePath) throws {
        guard rules.needsKey, last?.isKeyed == true, try !isLastAccepted else { return }
        throw AuditFault(
            """
            the last line of \(path) was not written with this SUBSCRIPTION_OFFERS_AUDIT_KEY; if the key has changed, \
            stop every process that uses the old key, and rename the file
            """, isSetup: true)
    }

    /// The break that a last line without an HMAC indicates if an earlier line has one; nil otherwise.
    var forgery: AuditBreak? {
        guard rules.needsKey, let last, !last.isKeyed, let lastKeyed else { return nil }
        return AuditBreak(known: lastKeyed, found: last.chain)
    }
}
