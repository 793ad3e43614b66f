import ArgumentParser
import FoundationEssentials
import OfferCore
import OfferService
import SubscriberStore

/// `offer-signer alarms acknowledge`: clears alarms that somebody has investigated.
struct AlarmsAcknowledgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Acknowledge redemptions that no signature of this service explains.",
        discussion: """
            First find out who signed: check the key IDs in the audit trail and other servers that have a key. Rotate \
            the keys if you cannot tell. Then acknowledge the numbers that 'alarms show' prints, or all of them. A \
            running service is ready again within seconds:

              offer-signer alarms acknowledge 17 18 --note "signed by the old server" --config offers.yaml
            """
    )

    @Argument(help: "The numbers of the redemptions. Without numbers, --all is required.") var numbers: [Int64] = []
    @Flag(help: "Acknowledge all redemptions that 'alarms show' prints.") var all = false
    @Option(help: "The cause, for the console: up to 500 characters.") var note: String?
    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard numbers.isEmpty == all else {
            throw ValidationError("Name the numbers that 'alarms show' prints, or use --all.")
        }
        guard (1...500).contains(note?.count ?? 1) else {
            throw ValidationError("--note has 1 to 500 characters.")
        }
    }

    func run() async throws {
        let alarms = try await options.alarms()
        if let unknown = numbers.first(where: { number in !alarms.contains { $0.number == number } }) {
            throw CommandError("there is no alarm \(unknown)", hint: "alarms show lists them")
        }
        let chosen = alarms.filter { all || numbers.contains($0.number) }
        try await options.withStore { store in
            for alarm in chosen {
                _ = try await store.acknowledge(
                    Acknowledgement(alarm.number, at: Timestamp(.now), by: CommandUser.name, note: note))
            }
        }
        for alarm in chosen { StandardStreams.print("acknowledged: \(alarm.line)") }
        if chosen.isEmpty { StandardStreams.print("ok: there is no alarm\n") }
    }
}
