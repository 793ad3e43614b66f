import OfferCrypto

/// A function that sends an OCSP request by HTTP POST and returns the complete response.
///
/// It sends the request only to the host in the URL and follows no redirect. It fails after a few seconds, or after
/// ``OCSPResponse/maximumSize`` bytes.
package typealias OCSPTransport = @Sendable (_ url: String, _ request: [UInt8]) async throws -> OCSPReply

/// The HTTP response of an OCSP responder.
package struct OCSPReply: Hashable, Sendable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

extension RevocationRequest {
    /// Queries the responder and verifies its response.
    /// - Parameter now: returns the time in seconds since 1970. It is called after the response arrives.
    func ask(by transport: OCSPTransport, now: @Sendable () -> Int64) async -> OCSPOutcome {
        do throws(OCSPProblem) {
            guard let responder else { throw .noResponder }
            let reply = try await exchange(try request(), with: responder, by: transport)
            guard reply.status == 200 else { throw .status(reply.status) }
            return try outcome(of: reply.body, at: now())
        } catch {
            return .unknown(error)
        }
    }

    private func request() throws(OCSPProblem) -> [UInt8] {
        do throws(OpenSSLError) { return try OCSPRequest.der(about: certificate, issuedBy: issuer) } catch {
            throw .request(error)
        }
    }

    private func exchange(
        _ request: [UInt8], with responder: String, by transport: OCSPTransport
    ) async throws(OCSPProblem) -> OCSPReply {
        do { return try await transport(responder, request) } catch let failure as OCSPTransportFailure {
            throw .transport(failure)
        } catch is CancellationError {
            throw .stopped
        } catch {
            // The text of an unexpected error may contain anything, so it is not quoted.
            throw .transport(OCSPTransportFailure("the OCSP responder could not be reached"))
        }
    }

    private func outcome(of response: [UInt8], at now: Int64) throws(OCSPProblem) -> OCSPOutcome {
        let verified: OCSPResponse
        do throws(OCSPFailure) {
            verified = try OCSPResponse(verifying: response, about: certificate, issuedBy: issuer, at: now)
        } catch {
            throw .response(error)
        }
        switch verified.status {
        case .good: return .good(until: verified.goodUntil)
        case .revoked(let date): return .revoked(date: date)
        case .unknown: throw .unknownCertificate
        }
    }
}
