import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferService
import SubscriberStore
import SubscriberSync

/// `offer-signer database dead-letters`: lists the notifications that receivers never accepted, or sends them again.
struct DatabaseDeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List the notifications and events that receivers have not accepted for three days.",
        discussion: """
            Prints the time, receiver, type and ID of each, the oldest first. With --retry, a running service \
            sends all of them once more.
            """
    )

    @Flag(help: "Send these notifications once more.") var retry = false
    @OptionGroup var options: DatabaseOptions

    private static let pageSize = 500

    func run() async throws {
        try await options.withStore { store in
            if retry {
                let count = try await store.reviveDeadLetters(at: Timestamp(.now))
                return StandardStreams.print("ok: \(count) notifications are due again\n")
            }
            var last: Forward.ID?
            while true {
                let letters = try await store.deadLetters(after: last, limit: Self.pageSize)
                guard let end = letters.last else { return }
                for letter in letters { show(letter) }
                last = end.forward.id
            }
        }
    }

    private func show(_ letter: DeadLetter) {
        let time = String(decoding: letter.diedAt.iso8601, as: UTF8.self)
        StandardStreams.print(
            "\(time) \(ReceiverName.of(letter.forward.receiver)) \(letter.forward.contentType.printable) "
                + "\(letter.forward.contentID.printable)\n")
    }
}
