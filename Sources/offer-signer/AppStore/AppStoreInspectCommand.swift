import AppStoreData
import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferFiles
import OfferService
import SystemPackage

/// `offer-signer app-store inspect`: verifies and decodes one piece of App Store data.
struct AppStoreInspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Verify and decode App Store data: any JWS or receipt in, JSON out.",
        discussion: """
            Reads one of these from standard input and recognises its kind: a transaction, renewal info, an \
            AppTransaction, a notification or a retention message request as a JWS; the JSON with signedPayload that the \
            App Store posts; or an app receipt in DER, BER or base64.

              offer-signer app-store inspect < notification.json
              pbpaste | offer-signer app-store inspect --as transaction
              offer-signer app-store inspect --at 2026-11-22T10:00:00Z < receipt

            Prints the result. Exits with status 0 if the data is verified, otherwise 1. In that case, "reason" \
            and "sentence" name the failed check, and "payload" must not be trusted. Checks the app, the environment and the device \
            only if their options are given, and never checks revocation. docs/app-store-data.md explains every \
            reason.
            """
    )

    /// The maximum input size in bytes, far larger than any data of the App Store.
    private static let maximumSize = 8 * 1024 * 1024

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The required kind of data: \(InspectedKind.choices.map(\.rawValue).joined(separator: ", ")).",
            valueName: "kind"),
        transform: InspectedKind.init(option:))
    var kind: InspectedKind?

    @Option(
        help: ArgumentHelp("The bundle ID that the data must name. Renewal info contains none.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Option(
        help: ArgumentHelp(
            "The app's Apple ID, which data from production must name. Transactions contain none.", valueName: "number"),
        transform: Int64.init(appAppleID:))
    var appAppleID: Int64?

    @Option(
        help: "The environment that the data must be from: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @Option(
        help: ArgumentHelp(
            "The time for which to verify, as 2026-11-22T10:00:00Z or in milliseconds since 1970 (default: the date of "
                + "signing, and now for the expiry of a receipt).", valueName: "time"),
        transform: Timestamp.init(option:))
    var at: Timestamp?

    @Option(
        help: ArgumentHelp(
            "The device that a receipt must be for: the bytes of identifierForVendor or of the MAC address.",
            valueName: "hex"),
        transform: DeviceIdentifier.init(option:))
    var deviceIdentifier: DeviceIdentifier?

    @Flag(
        help: "Accept data that Xcode signed, if its certificate is among the roots. It proves no purchase.")
    var development = false

    @Option(
        help: ArgumentHelp(
            "File or folder of certificates, in PEM or DER, to trust instead of Apple's (default: "
                + "\(Settings.appStoreRoots.variable), or Apple's).", valueName: "path"))
    var roots: String?

    func run() throws {
        let inspector = Inspector(
            roots: try trustedRoots(), isDevelopment: development, options: options, now: Timestamp(.now))
        let inspection = inspector.inspect(try Self.readInput())
        StandardStreams.print(String(decoding: inspection.json, as: UTF8.self) + "\n")
        guard inspection.isVerified else { throw ExitCode(1) }
    }

    /// Returns Apple's roots, unless the flag or the variable names others.
    private func trustedRoots() throws(Diagnostic) -> TrustedRoots {
        if let roots { return try AppStoreRootFiles(path: roots, option: "--roots").read() }
        let variable = Settings.appStoreRoots.variable
        guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return .apple }
        StandardStreams.printError("note: \(variable) is set, so its roots are trusted in place of Apple's\n")
        return try AppStoreRootFiles(path: path, option: variable).read()
    }

    private var options: InspectionOptions {
        InspectionOptions(
            kind: kind,
            origin: ExpectedOrigin(
                bundleID: bundleID, appAppleID: appAppleID, environments: environment.map { [$0] }),
            time: at, device: deviceIdentifier)
    }

    private static func readInput() throws -> [UInt8] {
        do {
            guard let input = try FileDescriptor.standardInput.readAll(maximumSize: maximumSize) else {
                throw CommandError("the input is larger than \(maximumSize) bytes")
            }
            return input
        } catch let error as Errno {
            throw CommandError("standard input cannot be read (\(error))")
        }
    }
}
