import ArgumentParser
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SubscriberSync

/// `offer-signer database check`: reads everything and checks that it is consistent.
struct DatabaseCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read the whole database, and report what it contains and what is wrong.",
        discussion: "Exits with status 0 if the database is sound, otherwise 1."
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let faults = try await options.withStore { store in
            for intake in try await store.intakes() { report(intake) }
            for receiver in try await store.receivers() {
                StandardStreams.print(
                    "receiver \(ReceiverName.of(receiver.url)): \(receiver.pending) waiting, \(receiver.dead) given up\n"
                )
            }
            let faults = try await store.check()
            // Decode every record once.
            let count = NIOLockedValueBox(0)
            try await store.forEachRecord { _ throws(StoreError) in count.withLockedValue { $0 += 1 } }
            StandardStreams.print("\(count.withLockedValue { $0 }) records read\n")
            return faults
        }
        guard faults.isEmpty else {
            for fault in faults { StandardStreams.print("fault: \(fault.printable)\n") }
            throw CommandError(StoreError(.corrupt, "\(faults.count) faults").diagnostic)
        }
        StandardStreams.print("ok: the database is sound\n")
    }

    private func report(_ intake: Intake) {
        StandardStreams.print(
            "\(intake.app.bundleID.text) \(intake.app.environment.rawValue): \(intake.notifications) notifications, "
                + "\(intake.subscriptions) subscriptions, \(intake.erasedSubscriptions) erased\n")
    }
}
