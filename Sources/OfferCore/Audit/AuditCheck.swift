/// Goes through an audit trail, line by line and file by file, oldest first, and finds where the chain does not hold.
package struct AuditCheck {
    package enum Finding: Hashable, Sendable {
        /// The lines in between are not there.
        case missing(ClosedRange<UInt64>)
        /// Its own hash or the one before does not fit it.
        case altered
        /// It is no line of a trail any more, or never was one.
        case notALine
        /// Its number has been there already.
        case outOfOrder
        /// What comes before the first line is not there, and nothing says what it was.
        case headless
        /// A trail begins anew, and nothing ties it to the one before.
        case newTrail
        /// The end of the line is missing: it was cut off while it was written, and nobody got an answer for it. No sign of
        /// anything.
        case unfinished
    }

    private let sha256: AuditChain.SHA256
    /// What the last line hands to the next; nil where that cannot be told.
    package private(set) var chain: AuditChain?
    /// The hash that the first line goes on from: of zeros, if the trail begins with it.
    package private(set) var beginning: [UInt8]?
    package private(set) var lineCount = 0

    package init(sha256: @escaping AuditChain.SHA256) {
        self.sha256 = sha256
    }

    /// Takes the next line.
    /// - Parameters:
    ///   - text: without the end of the line.
    ///   - isFinished: whether there was one.
    package mutating func take(_ text: ArraySlice<UInt8>, isFinished: Bool = true) throws -> Finding? {
        defer { lineCount += 1 }
        let isFirst = lineCount == 0
        guard isFinished else { return .unfinished }
        guard let line = AuditLine(text) else {
            chain = nil
            return .notALine
        }
        defer { chain = line.chain }
        if isFirst { return try first(line) }
        // After a line that could not be read there is nothing to compare with.
        guard let chain else { return nil }
        if line.number == 1, chain.number != 0 { return .newTrail }
        if line.number <= chain.number { return .outOfOrder }
        if line.number > chain.number + 1 { return .missing(chain.number + 1...line.number - 1) }
        return try line.continues(chain.hash, sha256: sha256) ? nil : .altered
    }

    private mutating func first(_ line: AuditLine) throws -> Finding? {
        guard let previous = line.number == 1 ? AuditChain.beginning.hash : line.previous else { return .headless }
        beginning = previous
        return try line.continues(previous, sha256: sha256) ? nil : .altered
    }
}
