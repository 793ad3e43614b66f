import ArgumentParser
import OfferAudit
import OfferCore

/// `offer-signer audit head`: prints the last line's number and hash.
struct AuditHeadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "head",
        abstract: "Print the number and hash of the last line of an audit trail.",
        discussion: """
            Prints the same last two lines as 'audit verify', but reads only the end of the file and verifies nothing. \
            Record the hash in a place that nobody with write access to the trail can change:

              offer-signer audit head audit.jsonl
            """
    )

    @Argument(help: "The current file of the trail.")
    var file: String

    func run() throws {
        do throws(AuditFault) {
            StandardStreams.print(try AuditFile.head(path: file).text)
        } catch {
            throw CommandError("\(error)", hint: "name the current file of an audit trail")
        }
    }
}

extension AuditChain {
    /// The last line's number and hash, for people.
    var text: String { "last line: \(number)\nlast hash: \(Hexadecimal.text(of: hash))\n" }
}
