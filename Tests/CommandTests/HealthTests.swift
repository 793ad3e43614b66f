import Foundation
import OfferAudit
import TestSupport
import Testing

@Suite("offer-signer health", .serialized, .timeLimit(.minutes(5)))
struct HealthTests {
    private func health(_ arguments: [String]) throws -> Command.Outcome {
        try Command.runOfferSigner(["health"] + arguments)
    }

    @Test(
        "health prints a ready or degraded service's status and exits with status 0, even if its own settings are invalid"
    )
    func ready() throws {
        let service = try RunningService()
        let outcome = try health(["--port", "\(service.port)", "--env-file", "/nowhere"])
        #expect(outcome.status == 0)
        #expect(
            outcome.standardOutput
                == #"{"status":"degraded","checks":{"keys":"ok","selfTest":"ok","audit":"off","clock":"ok","#
                + #""catalogue":"off","appStore":"ok","appStoreAPI":"off","appStoreConnect":"off","store":"off","notifications":"off","ledger":"off","retention":"off"},"#
                + #""activeKeys":["\#(RunningService.keyID)"],"problems":["no caller is configured, "#
                + #"so anyone who can reach the service can request signatures"]}"# + "\n")
        #expect(outcome.standardError == "")
    }

    @Test("health checks a service on all addresses over loopback and accepts any certificate name")
    func everyAddress() throws {
        let pair = try CertificatePair(name: "offers.example.com")
        let service = try RunningService(arguments: pair.arguments)
        let outcome = try health(["--port", "\(service.port)", "--host", "0.0.0.0"] + pair.arguments)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix(#"{"status":"degraded","#), "no caller is configured")
    }

    @Test("without a response, health prints an error and exits with status 1")
    func nobody() throws {
        let service = try RunningService()
        _ = service.stop()
        let outcome = try health(["--port", "\(service.port)"])
        #expect(outcome.status == 1)
        #expect(outcome.standardOutput == "")
        let url = "http://127.0.0.1:\(service.port)/health/ready"
        #expect(outcome.standardError.hasPrefix("error: \(url) does not respond ("))
        #expect(outcome.standardError.contains("\nhint: "))
    }

    @Test("health prints a non-200 response on one line with its status, and exits with status 1")
    func notReady() async throws {
        let server = try await KeyServer("no\nkey\n")
        server.answer(KeyServer.Response(status: 503, body: "no\nkey\n"))
        let outcome = try health(["--port", "\(server.port)"])
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("/health/ready responded with 503: no?key?\n"))
    }
}
