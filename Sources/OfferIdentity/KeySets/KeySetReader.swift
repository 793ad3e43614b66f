import NIOPosix
package import OfferCore
import OutgoingHTTP

/// A reader of key sets (JWKS, RFC 7517) from files and over HTTP.
package actor KeySetReader: KeySetSource {
    /// A function that reads a whole file of at most `maximumSize` bytes. It may block on disk access.
    package typealias ReadFile = @Sendable (_ path: String, _ maximumSize: Int) throws(Diagnostic) -> KeySetText

    private let timeout: Duration
    private let readFile: ReadFile
    /// The HTTP client; nil until the first URL is fetched.
    private var client: OutgoingClient?

    /// - Parameter timeout: the time limit for a complete HTTP response.
    package init(timeout: Duration = .seconds(10)) {
        self.timeout = timeout
        readFile = { path, maximumSize throws(Diagnostic) in try KeySetFile.read(path, maximumSize: maximumSize) }
    }

    /// - Parameter readFile: a replacement for reading from the file system.
    package init(timeout: Duration = .seconds(10), readFile: @escaping ReadFile) {
        self.timeout = timeout
        self.readFile = readFile
    }

    /// The maximum size of a key set in bytes. A set of three keys with certificates takes about 6 kB.
    package static let maximumSize = 256 * 1024

    package func text(at place: KeySetLocation) async throws(KeySetFault) -> KeySetText {
        switch place {
        case .file(let path):
            do throws(Diagnostic) { return try await readOnThreadPool(path) } catch {
                throw KeySetFault(.unavailable, error)
            }
        case .url(let url): return KeySetText(try await fetch(url))
        }
    }

    // This runs outside the actor, so that other sets can be read while large RSA keys are being checked.
    package nonisolated func keys(
        in text: [UInt8], from place: KeySetLocation
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [Diagnostic]) {
        try JSONWebKeySet.keys(in: text, from: "\(place)")
    }

    package func close() async {
        await client?.close()
        client = nil
    }

    /// Reads a file on NIO's thread pool: a hanging disk must not block a thread of Swift's cooperative pool.
    private func readOnThreadPool(_ path: String) async throws(Diagnostic) -> KeySetText {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [readFile] in
                try readFile(path, Self.maximumSize)
            }
        } catch let problem as Diagnostic {
            throw problem
        } catch {
            throw Diagnostic("the key set \(path) cannot be read (\(error))", hint: "restart the service")
        }
    }

    private func fetch(_ url: String) async throws(KeySetFault) -> [UInt8] {
        let client = client ?? OutgoingClient()
        self.client = client
        let request = OutgoingRequest(
            "GET", url, headers: [("Accept", "application/jwk-set+json, application/json")],
            maximumResponse: Self.maximumSize)
        let failure: String
        do throws(OutgoingFailure) {
            let response = try await client.exchange(request, within: timeout)
            if response.status == 200 { return response.body }
            failure = "answered with HTTP status \(response.status)"
        } catch { failure = "\(error)" }
        throw KeySetFault(
            .unavailable,
            Diagnostic(
                "users' keys could not be fetched from \(KeySetLocation.url(url)): the server \(failure)",
                hint: "check that the service can reach it; the last fetched keys stay in force for a day"))
    }
}
