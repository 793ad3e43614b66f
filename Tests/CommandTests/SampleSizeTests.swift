import OfferConfiguration
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

@Suite("The size of a sample")
struct SampleSizeTests {
    private let folder: TemporaryFolder
    private var database: String { "sqlite:\(folder.path)/store.sqlite" }

    private static func file(_ share: String) -> String {
        """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - productID: monthly
                subscriptionGroupID: "21012345"
                offers: [{offerID: half, rule: {all: [{everSubscribed: true}, {share: \(share)}]}}]

        """
    }

    /// A customer has been drawn by the size 0.9.
    init() async throws {
        folder = try TemporaryFolder()
        let (file, _) = ConfigurationFile.read(Array(Self.file("{of: 0.9, by: s}").utf8), name: "file")
        let store = try #require(StoreLocation(database)).open()
        try await store.beginLedger(try #require(file.catalogue).ledgerCoverage, at: Sample.day(0))
        let exposure = Sample.exposure(of: Sample.account(1), .offered, sample: "s")
        try await store.add([.exposure(Sample.production, exposure)])
        try store.close()
    }

    private func run(_ command: [String], _ share: String, database: String?) throws -> Command.Outcome {
        try folder.write(Self.file(share).utf8, to: "offers.yaml")
        let options = ["--config", folder.path + "/offers.yaml"] + (database.map { ["--database", $0] } ?? [])
        return try Command.runOfferSigner(command + options, environment: [:])
    }

    @Test("must not change under its name, as rules check says if it is given the database")
    func check() throws {
        for (share, database, status) in [
            ("{of: 0.9, by: s}", database, 0), ("{of: 0.5, by: s}", database, 1), ("{of: 0.5, by: s2}", database, 0),
            ("{of: 0.5, by: s}", nil, 0),
        ] as [(String, String?, Int32)] {
            let outcome = try run(["rules", "check"], share, database: database)
            #expect(outcome.status == status, "\(share) \(outcome.standardError)")
            #expect(outcome.standardOutput.contains("ok: the rules are consistent") == (status == 0))
            guard status == 1 else { continue }
            #expect(
                outcome.standardError.contains(
                    "error: com.example.app: the sample s has the size 0.5, but its customers were drawn with 0.9\nhint: give"
                ), "\(outcome.standardError)")
        }
        let absent = try run(["rules", "check"], "{of: 0.9, by: s}", database: "sqlite:\(folder.path)/absent.sqlite")
        #expect(absent.status == 1 && absent.standardError.contains("there is no database at"))
    }

    @Test("is a warning of doctor and of the service if it changes all the same")
    func warning() async throws {
        let warning = "com.example.app: the sample s has the size 0.5"
        let keys = try RunningService.makeKeys()
        try folder.write(Self.file("{of: 0.5, by: s}").utf8, to: "offers.yaml")
        let environment = [
            "SUBSCRIPTION_OFFERS_DATABASE": database, "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
            "SUBSCRIPTION_OFFERS_KEYS_DIR": keys.path, "SUBSCRIPTION_OFFERS_KEY_ID": RunningService.keyID,
        ]
        let doctor = try Command.runOfferSigner(["doctor"], environment: environment)
        #expect(doctor.status == 0 && doctor.standardOutput.contains("warning: " + warning), "\(doctor.standardOutput)")
        let service = try await onOwnThread {
            try RunningService(environment: environment.filter { !$0.key.contains("KEY") }, keys: keys)
        }
        try await waitUntil { try service.log.contains(warning) }
        #expect(try await onOwnThread { service.stop() } == 0)
    }
}
