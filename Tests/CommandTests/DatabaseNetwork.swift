import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// A service and a PostgreSQL server with a network between them that a test disturbs, all in a network namespace of their own.
final class DatabaseNetwork: Sendable {
    /// An answer of the service.
    struct Answer: Sendable {
        let status: Int
        let retryAfter: String?
        let body: String
    }

    let server: TestPostgreSQL
    private let decisions: DecisionProcess
    private let signer: NotificationSigner
    private let network = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let enter: [String]

    init(customers: Int, limits: String) async throws {
        let folder = try TemporaryFolder()
        try Command.compile("Network", to: folder.path + "/network", options: [])
        network.executableURL = URL(filePath: "/usr/bin/env")
        network.arguments = ["unshare", "--net", folder.path + "/network"]
        network.standardInput = input
        network.standardOutput = output
        try network.run()
        try Self.expectOK(from: output)
        enter = ["nsenter", "--net", "--target", "\(network.processIdentifier)"]

        server = try TestPostgreSQL(["--fast", "--address", "10.77.1.1"], through: enter)
        // Tests reach it through its socket, which is in the file system.
        let url = try server.makeDatabase()
        let name = try #require(URL(string: url)?.path)
        decisions = try await DecisionProcess(
            customers: customers, limits: limits, in: .postgreSQL(url: url),
            serviceDatabase: "postgresql://offers@10.77.1.2:5432\(name)?sslmode=disable")
        try NotificationSigner.make(in: decisions.folder.path + "/roots")
        signer = try NotificationSigner(folder: decisions.folder.path + "/roots")
    }

    deinit {
        try? input.fileHandleForWriting.close()
        network.waitUntilExit()
    }

    private static func expectOK(from pipe: Pipe) throws {
        #expect(String(decoding: try pipe.fileHandleForReading.read(upToCount: 3) ?? Data(), as: UTF8.self) == "ok\n")
    }

    private func tell(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        try Self.expectOK(from: output)
    }

    // MARK: Disturbances

    /// Packets take half of a round trip in each direction.
    func setRoundTrip(milliseconds: Int) throws { try tell("delay \(milliseconds / 2)") }

    /// Every packet is lost without an error.
    func dropPackets() throws { try tell("drop") }

    func restore() throws { try tell("delay 0") }

    /// Takes away the route to the server, so that connecting fails at once.
    func removeRoute() throws { try run(["ip", "route", "add", "unreachable", "10.77.1.2"]) }

    func restoreRoute() throws { try run(["ip", "route", "del", "unreachable", "10.77.1.2"]) }

    private func run(_ command: [String]) throws {
        let outcome = try Command.run(enter[0], Array(enter.dropFirst()) + command)
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    // MARK: The service

    func start() throws -> RunningService {
        let program = "#!/bin/sh\nexec \(enter.joined(separator: " ")) \(Command.offerSigner) \"$@\"\n"
        try decisions.folder.write(program.utf8, to: "offer-signer")
        let path = decisions.folder.path + "/offer-signer"
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        let roots = ["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": decisions.folder.path + "/roots/root.pem"]
        return try decisions.start(roots, program: path)
    }

    func decide(_ customer: UInt64, _ service: RunningService) throws -> Answer {
        let token = Sample.token(customer).description
        return try post("/v1/decisions", #"{"bundleID":"com.example.app","appAccountToken":"\#(token)"}"#, service)
    }

    func notify(_ notification: PlannedNotification, _ service: RunningService) throws -> Answer {
        let body = String(decoding: try signer.body(of: notification), as: UTF8.self)
        return try post("/v1/app-store-notifications", body, service)
    }

    func signPlain(_ service: RunningService) throws -> Answer {
        try post(
            "/v1/promotional-offers",
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"plain","applicationUsername":"one"}"#,
            service)
    }

    private func post(_ path: String, _ body: String, _ service: RunningService) throws -> Answer {
        let outcome = try Command.run(
            enter[0],
            Array(enter.dropFirst()) + [
                "curl", "--silent", "--show-error", "--max-time", "60", "--header", "Content-Type: application/json",
                "--data-binary", "@-", "--write-out", "\n%{http_code}\n%header{retry-after}",
                "http://127.0.0.1:\(service.port)\(path)",
            ], input: Array(body.utf8))
        try #require(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count >= 3)
        return Answer(
            status: Int(lines[lines.count - 2]) ?? 0, retryAfter: lines.last.map(String.init),
            body: lines.dropLast(2).joined(separator: "\n"))
    }

    // MARK: What is stored

    func reservedNonces() async throws -> Set<String> { try await decisions.reservedNonces() }

    func storedNotifications() async throws -> Int {
        try await decisions.withStore { store in try await store.intakes().map(\.notifications).reduce(0, +) }
    }
}
