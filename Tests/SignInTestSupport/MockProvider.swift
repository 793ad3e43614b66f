import Foundation
package import TestSupport

/// The identity provider of the Python package `oidc-provider-mock`, which shares no code with ours, over TLS.
package final class MockProvider: Sendable {
    package struct UnexpectedAnswer: Error {
        package let text: String
    }

    private let certificates: TLSCertificates
    package let url: String
    private let program: RunningProgram

    /// - Parameter people: the claims of each person, as JSON with `sub`.
    package init(_ certificates: TLSCertificates, people: String...) throws {
        self.certificates = certificates
        program = try RunningProgram(
            MarkdownBlock.repository.appending(path: "scripts/oidc-provider").path,
            [certificates.certificatePath, certificates.keyPath] + people)
        let port = try program.port { output in
            output.firstMatch(of: /https:\/\/127\.0\.0\.1:([0-9]+)\n/).flatMap { Int($0.output.1) }
        }
        url = "https://127.0.0.1:\(port)"
    }

    /// Registers a client.
    /// - Parameter authentication: `client_secret_basic` or `client_secret_post`.
    package func register(redirectURL: String, authentication: String) throws -> (id: String, secret: String) {
        let text = try curl(
            "\(url)/oauth2/clients", "--json",
            #"{"redirect_uris":["\#(redirectURL)"],"token_endpoint_auth_method":"\#(authentication)"}"#)
        guard let id = text.firstMatch(of: /"client_id": *"([^"]+)"/)?.output.1,
            let secret = text.firstMatch(of: /"client_secret": *"([^"]+)"/)?.output.1
        else { throw UnexpectedAnswer(text: text) }
        return (String(id), String(secret))
    }

    /// Signs a person in, as their browser would.
    /// - Returns: the query with which the browser comes back.
    package func signIn(_ subject: String, at location: String) throws -> String {
        let back = try curl(
            location, "--data-urlencode", "sub=\(subject)", "--output", "/dev/null", "--write-out", "%{redirect_url}")
        guard let mark = back.firstIndex(of: "?") else { throw UnexpectedAnswer(text: back) }
        return String(back[mark...].dropFirst())
    }

    private func curl(_ arguments: String...) throws -> String {
        try Command.run("curl", ["-sS", "--cacert", certificates.rootPath] + arguments).standardOutput
    }
}
