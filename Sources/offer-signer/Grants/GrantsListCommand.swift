import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer grants list`: the grants of an app, the newest first.
struct GrantsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the latest grants of an app, or those that wait for approval.")

    @OptionGroup var app: GrantsAppOptions
    @Flag(help: "Only grants that somebody must still approve.") var waiting = false
    @Option(help: "The number of grants, from 1 to 1000.") var limit = 100

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000.") }
    }

    func run() async throws {
        try await app.withDesk { desk, configured async throws(Problem) in
            var isEmpty = true
            for environment in configured.environments.sorted(by: { $0.rawValue < $1.rawValue })
            where app.environment == nil || app.environment == environment {
                let scope = AppScope(bundleID: desk.bundleID, environment: environment)
                let selection: GrantSelection = waiting ? .awaitingApproval(at: Timestamp(.now)) : .all
                for grant in try await desk.desk.grants(in: scope, selection, limit: limit) {
                    isEmpty = false
                    try await desk.show(StoredGrant(app: scope, grant: grant))
                }
            }
            if isEmpty { StandardStreams.printError("there is no grant\n") }
        }
    }
}

/// `offer-signer grants approve`: approves grants that somebody else made.
struct GrantsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve grants above the daily budget of the person who made them.")

    @Argument(help: "The IDs that 'grants list --waiting' prints.", transform: UUIDText.init(grant:))
    var ids: [UUIDText]
    @OptionGroup var app: GrantsAppOptions

    func run() async throws {
        try await app.change(ids, .grantApproval) { desk, stored, configured, act async throws(Problem) in
            try await desk.approve(stored, of: configured, act)
        }
    }
}

/// `offer-signer grants withdraw`: takes grants back.
struct GrantsWithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Withdraw grants. A signature that was issued stays valid until it expires.")

    @Argument(help: "The IDs that 'grants list' prints.", transform: UUIDText.init(grant:)) var ids: [UUIDText]
    @OptionGroup var app: GrantsAppOptions

    func run() async throws {
        try await app.change(ids, .grantWithdrawal) { desk, stored, _, act async throws(Problem) in
            try await desk.withdraw(stored.grant.id, act)
        }
    }
}

extension UUIDText {
    fileprivate init(grant text: String) throws {
        guard let id = UUIDText(parsing: Array(text.utf8)) else { throw ValidationError("\(text) is not a UUID.") }
        self = id
    }
}

extension GrantsAppOptions {
    fileprivate func change(
        _ ids: [UUIDText], _ kind: CustomerChange.Kind,
        _ change: @Sendable (GrantDesk, StoredGrant, Catalogue.App, OfferGrant.Act) async throws(Problem) -> StoredGrant
    ) async throws {
        try await withDesk { desk, configured async throws(Problem) in
            for id in ids {
                let stored = try await desk.desk.grant(id)
                guard stored.app.bundleID == desk.bundleID else { throw .unknownGrant }
                let changed = try await desk.record(kind, stored) { () async throws(Problem) in
                    try await change(
                        desk.desk, stored, configured, OfferGrant.Act(by: desk.person, at: Timestamp(.now)))
                }
                try await desk.show(changed)
            }
        }
    }
}
