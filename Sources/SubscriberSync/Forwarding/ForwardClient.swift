package import OfferConfiguration
package import OfferCore
import OfferCrypto
import OfferEligibility
import OutgoingHTTP
package import SubscriberStore

/// Posts notifications to the team's own receivers.
package final class ForwardClient: Sendable {
    private let client: OutgoingClient
    private let signature: ForwardSignature?
    private let timeout: Duration

    /// The maximum number of response bytes to read. They are discarded, so that the connection can be reused.
    private static let maximumResponse = 64 * 1024
    /// The maximum number of connections for each host: enough for 32 URLs of one host with 32 notifications at a time
    /// each.
    private static let maximumConnections = 1024

    /// - Parameter timeout: the time limit of one attempt, including the connection.
    /// - Throws: a problem for the operator, if a certificate cannot be used.
    package init(_ settings: ForwardSettings, timeout: Duration = .seconds(10)) throws(Diagnostic) {
        self.timeout = timeout
        do { signature = try settings.key.map { key throws(OpenSSLError) in try ForwardSignature(key) } } catch {
            throw Diagnostic("\(Settings.forwardKey.variable) cannot be used (\(error))", hint: "report this as a bug")
        }
        // All URLs of one host share its connections. A receiver that hangs must not delay another receiver on the same
        // host. The worker limits the number of requests.
        do {
            client = try OutgoingClient(
                roots: settings.roots, connections: Self.maximumConnections, connectLimit: timeout)
        } catch {
            throw Diagnostic(
                "a certificate in \(Settings.forwardRoots.variable) cannot be used", hint: "put root certificates there"
            )
        }
    }

    /// Closes all connections. Call it after the last attempt.
    package func close() async { await client.close() }

    /// Sends a notification once, as it was received.
    /// - Throws: ``ForwardFailure`` unless the receiver answers with a status from 200 to 299.
    package func send(_ forward: Forward, at now: Timestamp) async throws(ForwardFailure) {
        let request: OutgoingRequest
        do { request = try self.request(for: forward, at: now) } catch {
            throw .unreachable("could not be sent the notification, because it could not be signed: \(error)")
        }
        let status: Int
        do throws(OutgoingFailure) { status = try await client.exchange(request, within: timeout).status } catch {
            throw .unreachable("\(error)")
        }
        guard (200...299).contains(status) else { throw .status(status) }
    }

    private func request(for forward: Forward, at now: Timestamp) throws(OpenSSLError) -> OutgoingRequest {
        var headers = [
            (name: "Content-Type", value: "application/json"),
            (forward.content.header, forward.contentID),
        ]
        if let signature {
            headers.append((ForwardSignature.header, try signature.value(for: forward.body, at: now)))
        }
        return OutgoingRequest(
            "POST", forward.receiver, headers: headers, body: forward.body, maximumResponse: Self.maximumResponse,
            ignoresBody: true)
    }
}

extension Forward.Content {
    /// The header with the ID.
    fileprivate var header: String {
        switch self {
        case .notification: "Offer-Signer-Notification"
        case .event: "Offer-Signer-Event"
        }
    }
}

/// The reason a receiver did not accept a notification.
package enum ForwardFailure: Error, Hashable, Sendable {
    /// The receiver answered, but not with a status from 200 to 299.
    case status(Int)
    /// There was no complete response. The value is a predicate, such as `refused the connection`.
    case unreachable(String)

    /// True if any other notification would fail too, so that the receiver needs a pause.
    package var isOfReceiver: Bool {
        switch self {
        case .status(let status): status >= 500 || status == 429
        case .unreachable: true
        }
    }
}

extension ForwardFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let status): "it answered with HTTP status \(status)"
        case .unreachable(let reason): "it \(reason)"
        }
    }
}
