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
    private let file: FileIdentity
    /// True if the whole file was read.
    private let isAllRead: Bool
    /// The offset after the last line that was read.
    private var end: Int64

    /// - Parameter tail: the end of the file.
    init(of file: FileDescriptor, _ tail: AuditTail, rules: AuditRules) throws {
        self.rules = rules
        self.file = try FileIdentity(file.stat())
        isAllRead = Self.needsAll(tail, rules)
        end = isAllRead ? 0 : max(0, tail.end - AuditTail.searchedSize)
        try readOn(in: file, to: tail.end)
    }

    /// Reads the lines added since. Returns nil if this is another file, or if its content has changed.
    func continued(in file: FileDescriptor, to tail: AuditTail) throws -> AuditOpening? {
        guard try FileIdentity(file.stat()) == self.file, end <= tail.end, isAllRead == Self.needsAll(tail, rules),
            let last, try KnownLine(text: last.textWithLineFeed, file: self.file, end: end).isHeld(by: file)
        else { return nil }
        var next = self
        try next.readOn(in: file, to: tail.end)
        return next
    }

    /// If lines need an HMAC, a last line without one is acceptable only if no line in the whole file has one.
    private static func needsAll(_ tail: AuditTail, _ rules: AuditRules) -> Bool {
        rules.needsKey && tail.chain?.isKeyed == false
    }

    private mutating func readOn(in file: FileDescriptor, to newEnd: Int64) throws {
        let read = try AuditTail.forEachLine(of: file, from: end, to: newEnd) { text, _ in try take(text) }
        guard read == newEnd else {
            throw AuditFault("the audit trail contains a line that is too long", isSetup: true)
        }
        end = newEnd
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
