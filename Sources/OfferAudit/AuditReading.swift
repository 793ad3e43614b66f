import OfferCore

/// A check of the lines that other processes have added to the trail since this process last read it.
struct AuditReading {
    /// The chain after the last line that continues it.
    private(set) var chain: AuditChain
    /// The last line that continues the chain, with its line feed, and the offset after it; nil if there is none.
    private(set) var last: (text: [UInt8], end: Int64)?
    /// True if a line did not continue the previous one. Later lines are not read.
    private(set) var isBroken = false
    /// The number of the last line that marks an unacknowledged break.
    private(set) var openBreak: UInt64?
    /// The numbers of the lines in which other processes marked a break.
    private(set) var marks: [UInt64] = []
    private let rules: AuditRules

    /// - Parameter chain: the chain before these lines.
    init(from chain: AuditChain, openBreak: UInt64?, rules: AuditRules) {
        self.chain = chain
        self.openBreak = openBreak
        self.rules = rules
    }

    /// - Parameter end: the offset after the line.
    mutating func take(_ text: ArraySlice<UInt8>, end: Int64) throws {
        guard !isBroken else { return }
        guard let line = AuditLine(text), try rules.isNext(line, after: chain) else {
            isBroken = true
            return
        }
        chain = line.chain
        last = (line.textWithLineFeed, end)
        switch line.event {
        case .broken:
            openBreak = line.number
            marks.append(line.number)
        case .breakAcknowledged: openBreak = nil
        default: break
        }
    }
}
