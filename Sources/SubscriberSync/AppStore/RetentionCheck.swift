package import AppStoreAPI
import OfferConfiguration
package import OfferCore
package import OfferEligibility

/// Checks with the App Store that the messages of an app's retention cases can be shown.
package struct RetentionCheck: Sendable {
    private let client: AppStoreClient
    private let app: AppScope
    private let configured: Catalogue.App

    /// The maximum number of default messages to look up. Apple allows few such requests.
    private static let maximumDefaults = 20
    private static let path = "/v1/retention-messages"

    /// - Parameter configured: the app's entry in the catalogue.
    package init(client: AppStoreClient, app: AppScope, configured: Catalogue.App) {
        self.client = client
        self.app = app
        self.configured = configured
    }

    /// The result of a check.
    package struct Findings: Sendable {
        /// A warning for each problem, or for a failed request.
        package var warnings: [Diagnostic] = []
        /// What may be right: the API does not list the messages of App Store Connect.
        package var notes: [Diagnostic] = []
    }

    package func findings() async -> Findings {
        do throws(APIFailure) {
            var findings = try await messageFindings()
            findings.warnings += try await urlWarnings() + defaultWarnings()
            return findings
        } catch {
            if case .status(404) = error {
                return Findings(warnings: [
                    finding(
                        "the account has no access to the Retention Messaging API",
                        hint: "request it from Apple; until then, the App Store requests no messages")
                ])
            }
            return Findings(warnings: [
                finding("retention messages could not be checked: \(error)", hint: error.hint)
            ])
        }
    }

    private func finding(_ problem: String, hint: String) -> Diagnostic {
        Diagnostic("\(app.bundleID.text) \(app.environment.rawValue): \(problem)", hint: hint)
    }

    private func messageFindings() async throws(APIFailure) -> Findings {
        let uploaded = try await client.send(.messages(), for: app)
        // Apple's letter case may differ from ours.
        let states = Dictionary(
            uploaded.map { ($0.identifier.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var findings = Findings()
        for identifier in named.sorted(by: { $0.description < $1.description }) {
            guard let message = states[identifier.description] else {
                findings.notes.append(
                    finding(
                        "the message \(identifier) was not uploaded here, so it must be one of App Store Connect",
                        hint: "if it is not, upload it with: offer-signer retention messages upload --environment "
                            + app.environment.rawValue))
                continue
            }
            guard !message.isApproved else { continue }
            findings.warnings.append(
                finding(
                    "the message \(identifier) is \(message.state.printable), not APPROVED, so the App Store does not show it",
                    hint: "wait for its approval, or upload another one"))
        }
        return findings
    }

    private func urlWarnings() async throws(APIFailure) -> [Diagnostic] {
        let set =
            "set it with: offer-signer retention url set --environment \(app.environment.rawValue) https://…\(Self.path)"
        do throws(APIFailure) {
            let url = try await client.send(.realtimeURL(), for: app)
            guard !url.hasSuffix(Self.path) else { return [] }
            return [
                finding(
                    "the App Store sends requests to \(url.printable), which does not end with \(Self.path)", hint: set)
            ]
        } catch {
            guard case .refused(.realtimeURLNotFound) = error else { throw error }
            return [finding("no URL for retention messages is set, so the App Store sends no requests", hint: set)]
        }
    }

    private func defaultWarnings() async throws(APIFailure) -> [Diagnostic] {
        var missing: [Diagnostic] = []
        for (product, locale) in pairs.prefix(Self.maximumDefaults) {
            do throws(APIFailure) {
                _ = try await client.send(.defaultMessage(for: product, in: locale), for: app)
            } catch {
                guard case .refused(.defaultMessageNotFound) = error else { throw error }
                missing.append(
                    finding(
                        "\(product.text) has no default message for \(locale): if an answer fails, the App Store shows a "
                            + "message of App Store Connect or nothing",
                        hint: "set it with: offer-signer retention defaults set"))
            }
        }
        return missing
    }

    /// The messages that the cases name in this environment.
    private var named: Set<UUIDText> {
        Set(
            configured.rules.retention.compactMap { $0.messages.messages(in: app.environment) }
                .flatMap { Array($0.byLocale.values) + [$0.otherwise].compactMap(\.self) })
    }

    /// Each product of the app paired with each locale that its cases name, in order.
    private var pairs: [(ProductID, String)] {
        let locales = Set(
            configured.rules.retention.compactMap { $0.messages.messages(in: app.environment) }
                .flatMap { $0.byLocale.keys.map(\.appleText) })
        let products = configured.offers.keys.sorted { $0.text.description < $1.text.description }
        return products.flatMap { product in locales.sorted().map { (product, $0) } }
    }
}

extension RetentionLocale {
    /// The locale as Apple writes it: `en-US`, `zh-Hans-CN`.
    fileprivate var appleText: String {
        text.split(separator: "-").enumerated().map { place, part in
            guard place > 0 else { return String(part) }
            return part.count == 4 ? part.prefix(1).uppercased() + part.dropFirst() : part.uppercased()
        }.joined(separator: "-")
    }
}
