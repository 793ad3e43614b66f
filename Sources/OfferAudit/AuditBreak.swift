package import OfferCore

/// A break in the audit trail: the file no longer holds the last line that a process had written or read.
package struct AuditBreak: Sendable {
    /// The last line that the process knew.
    package let known: AuditChain
    /// The line that the file ends with instead; nil if it has no lines.
    package let found: AuditChain?

    package init(known: AuditChain, found: AuditChain?) {
        self.known = known
        self.found = found
    }

    /// The chain that the line about the break continues. It continues from the last known line, so that the trail is
    /// whole again if the missing lines are put back. Its number is also larger than any plausible number in the file.
    var continuation: AuditChain {
        let found = found.map { known.isPlausible(next: $0.number) ? $0.number : 0 } ?? 0
        return AuditChain(
            number: max(known.number, found), hash: known.hash, isKeyed: known.isKeyed, seal: known.seal)
    }

    func write(to writer: inout JSONWriter) {
        writer.member("lastLine", Int64(known.number))
        writer.member("lastHash", hexadecimal: known.hash)
        guard let found else { return }
        writer.member("foundLine", Int64(found.number))
        writer.member("foundHash", hexadecimal: found.hash)
    }

    /// The problem of a trail with a break that no one has acknowledged.
    /// - Parameter line: the number of the line that marks the break.
    package static func problem(line: UInt64) -> Diagnostic {
        Diagnostic(
            "line \(line) of the audit trail marks a break: lines that had been written are no longer in the file",
            hint: "find out who altered the file, keep a copy of it, and then run: offer-signer audit acknowledge")
    }
}

/// Something that a store noticed about the lines that it had written earlier.
package enum AuditFinding: Sendable {
    /// The lines are no longer there. The next line will mark the break.
    case broken(AuditBreak)
    /// Another process, or someone who pretends to be one, has marked a break in the line with this number.
    case markedElsewhere(line: UInt64)
    /// The file with the lines up to this number was renamed or removed, and no file beside it ends with that line.
    case fileGone(lastLine: UInt64)
}
