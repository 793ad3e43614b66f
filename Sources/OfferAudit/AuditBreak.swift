package import OfferCore

/// A break in the audit trail: the file no longer contains the last line that a process wrote or read.
package struct AuditBreak: Sendable {
    /// The last line that the process knew.
    package let known: AuditChain
    /// The last line of the file instead; nil if the file has no lines.
    package let found: AuditChain?

    package init(known: AuditChain, found: AuditChain?) {
        self.known = known
        self.found = found
    }

    /// The chain that the line marking the break continues. Its hash is that of the last known line, so the trail is
    /// whole again if the missing lines are restored. Its number is not less than the number of the file's last line,
    /// if that is plausible.
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

    /// Returns the problem of a trail with an unacknowledged break.
    /// - Parameter line: the number of the line that marks the break.
    package static func problem(line: UInt64) -> Diagnostic {
        Diagnostic(
            "line \(line) of the audit trail marks a break: previously written lines are no longer in the file",
            hint: "find out who altered the file, keep a copy of it, and then run: offer-signer audit acknowledge")
    }
}

/// A finding of a store about the lines that it wrote or read earlier.
package enum AuditFinding: Sendable {
    /// The lines are no longer in the file. The next line marks the break.
    case broken(AuditBreak)
    /// Another process, or someone who impersonates one, marked a break in the line with this number.
    case markedElsewhere(line: UInt64)
    /// The file with the lines up to this number was renamed or removed, and no rotated file contains that line.
    case fileGone(lastLine: UInt64)
}
