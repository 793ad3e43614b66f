import OutgoingHTTP
import ServiceLifecycle

/// Closes the client for requests to the identity provider when the service stops.
struct ProviderClient: Service {
    let client: OutgoingClient

    func run() async throws {
        try? await gracefulShutdown()
        await close()
    }

    func close() async { await client.close() }
}
