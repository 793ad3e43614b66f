package import OfferCrypto

/// A check of the hash chain of an audit trail, line by line and file by file, oldest first.
package struct AuditCheck {
    package enum Finding: Hashable, Sendable {
        /// The lines with these numbers are missing.
        case missing(ClosedRange<UInt64>)
        /// The line's hash does not match its content and the previous line.
        case altered
        /// The text is not a line of an audit trail.
        case notALine
        /// The line's number is not greater than the previous line's.
        case outOfOrder
        /// The first line is not the beginning of a trail or file, so earlier lines are missing and the previous hash
        /// is unknown.
        case headless
        /// The line begins a new trail, which does not continue the previous one.
        case newTrail
        /// The line has no HMAC, but the line before it has one. Anyone who can write to the file can forge such a
        /// line.
        case unkeyed
        /// The line marks a break: the process noticed that the file no longer contained the last line it knew.
        case marked
        /// The line has no line feed: the process stopped while writing it, before its response was sent. This is not a
        /// sign of tampering.
        case unfinished
    }

    /// The chain after the last line; nil if that line could not be read.
    package private(set) var chain: AuditChain?
    /// The hash that the first line continues from; all zeros if the trail begins there.
    package private(set) var beginning: [UInt8]?
    /// The number of lines that end with a line feed.
    package private(set) var lineCount = 0
    /// The hash of the last line if it continues the previous line; nil if this was not verified.
    package private(set) var verifiedHash: [UInt8]?
    /// The number of the last line without an HMAC, which anyone can compute; nil if every line has an HMAC.
    package private(set) var lastWithoutKey: UInt64?
    /// True if any line has an HMAC.
    package private(set) var hasKeyedLines = false
    private let key: HMACSHA256Key?
    private let allowsUnkeyed: Bool

    /// - Parameters:
    ///   - key: the key of lines with an HMAC.
    ///   - allowsUnkeyed: whether lines without an HMAC may follow lines with one, because HMACs were switched off.
    package init(key: HMACSHA256Key? = nil, allowsUnkeyed: Bool = false) {
        self.key = key
        self.allowsUnkeyed = allowsUnkeyed
    }

    /// Checks the next line.
    /// - Parameters:
    ///   - text: the line without its line feed.
    ///   - isFinished: whether the line ended with a line feed.
    /// - Returns: the finding about the line; nil if there is none.
    /// - Throws: ``AuditLine/KeyMissing`` if the line has an HMAC and there is no key.
    package mutating func take(_ text: ArraySlice<UInt8>, isFinished: Bool = true) throws -> Finding? {
        verifiedHash = nil
        guard isFinished else { return .unfinished }
        defer { lineCount += 1 }
        guard let line = AuditLine(text) else {
            chain = nil
            return .notALine
        }
        defer { chain = line.chain }
        if line.isKeyed { hasKeyedLines = true } else { lastWithoutKey = line.number }
        let mark = line.event == .broken ? Finding.marked : nil
        // After an unreadable line, there is no hash to compare with.
        if lineCount > 0, chain == nil { return mark }
        let finding = if let chain { try fault(of: line, after: chain) } else { try first(line) }
        if finding == nil { verifiedHash = line.hash }
        return finding ?? mark
    }

    private func fault(of line: AuditLine, after chain: AuditChain) throws -> Finding? {
        if line.number == 1, chain.number != 0 { return .newTrail }
        if line.number <= chain.number { return .outOfOrder }
        if line.number > chain.number + 1 { return .missing(chain.number + 1...line.number - 1) }
        guard try line.continues(chain.hash, key: key) else { return .altered }
        return chain.isKeyed && !line.isKeyed && !allowsUnkeyed ? .unkeyed : nil
    }

    private mutating func first(_ line: AuditLine) throws -> Finding? {
        guard let previous = line.number == 1 ? AuditChain.beginning.hash : line.previous else { return .headless }
        beginning = previous
        return try line.continues(previous, key: key) ? nil : .altered
    }
}
