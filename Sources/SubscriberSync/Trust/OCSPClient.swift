package import AppStoreData
import OfferConfiguration
import OfferCrypto
import OutgoingHTTP

/// An HTTP client that exchanges OCSP requests for responses.
package struct OCSPClient: Sendable {
    private let client: OutgoingClient
    private let timeout: Duration

    /// - Parameter timeout: the time limit for a complete response, including the connection.
    package init(timeout: Duration = .seconds(10)) {
        self.timeout = timeout
        client = OutgoingClient(connectLimit: timeout)
    }

    /// The function that sends requests with this client, for ``OCSPChecker``.
    package var transport: OCSPTransport {
        { [client, timeout] url, request in
            let headers = [
                (name: "Content-Type", value: OCSPRequest.mediaType), ("Accept", "application/ocsp-response"),
            ]
            let message = OutgoingRequest(
                "POST", url, headers: headers, body: request, maximumResponse: OCSPResponse.maximumSize)
            do throws(OutgoingFailure) {
                let response = try await client.exchange(message, within: timeout)
                return OCSPReply(status: response.status, body: response.body)
            } catch {
                try Task.checkCancellation()
                throw OCSPTransportFailure("the OCSP responder \(error)")
            }
        }
    }

    /// Closes all connections. Call it after the last request.
    package func close() async { await client.close() }
}
