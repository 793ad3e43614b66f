import OfferCore
import OfferCrypto
import SystemPackage

/// A check of the lines that other processes have added to the trail since this one last read it.
struct AuditReading {
    /// The chain after the last line that continues it.
    private(set) var chain: AuditChain
    /// Whether a line did not continue the previous one. Later lines are not read.
    private(set) var isBroken = false
    /// The number of the last line that marks a break which no one has acknowledged.
    private(set) var openBreak: UInt64?
    private let key: HMACSHA256Key?
    private let needsKey: Bool

    /// - Parameters:
    ///   - chain: the chain before these lines.
    ///   - key: the key of lines with an HMAC; nil to accept them unverified.
    ///   - needsKey: whether only a line with an HMAC can acknowledge a break.
    init(from chain: AuditChain, openBreak: UInt64?, key: HMACSHA256Key?, needsKey: Bool) {
        self.chain = chain
        self.openBreak = openBreak
        self.key = key
        self.needsKey = needsKey
    }

    mutating func take(_ text: ArraySlice<UInt8>) throws {
        guard !isBroken else { return }
        guard let line = AuditLine(text), try isNext(line) else {
            isBroken = true
            return
        }
        chain = line.chain
        switch line.event {
        case .broken: openBreak = line.number
        case .breakAcknowledged where line.isKeyed || !needsKey: openBreak = nil
        default: break
        }
    }

    private func isNext(_ line: AuditLine) throws -> Bool {
        if line.number == chain.number + 1, try isLinked(line, to: chain.hash) { return true }
        // Another process has marked a break, so the line continues from the last one that it knew.
        guard line.number > chain.number, let last = line.lastBeforeBreak else { return false }
        return try isLinked(line, to: last)
    }

    private func isLinked(_ line: AuditLine, to previous: [UInt8]) throws -> Bool {
        if line.isKeyed, key == nil { return true }
        return try line.continues(previous, key: key)
    }
}

/// The identity of a file, whatever its name.
struct FileIdentity: Hashable {
    private let device: DeviceID
    private let inode: Inode

    init(_ stat: Stat) {
        device = stat.deviceID
        inode = stat.inode
    }
}
