package import NIOCore
package import OfferCore

/// The client of `verifyReceipt`, the legacy service that describes receipts. Apple has deprecated it, and still runs it.
///
/// Production is asked first. It refers receipts of the sandbox to the sandbox, as Apple recommends.
package struct ReceiptServiceClient: Sendable {
    private let hosts: ReceiptServiceHosts
    private let transport: any APITransport
    private let pacing: Pacing

    private static let maximumAttempts = 3
    private static let firstDelay = Duration.milliseconds(250)
    private static let attemptTimeout = Duration.seconds(30)

    package init(hosts: ReceiptServiceHosts, transport: any APITransport, pacing: Pacing) {
        self.hosts = hosts
        self.transport = transport
        self.pacing = pacing
    }

    /// Asks what a receipt contains now.
    /// - Parameters:
    ///   - receipt: CMS, as the app has it.
    ///   - sharedSecret: the app's, which receipts with subscriptions need.
    ///   - excludesOld: whether to leave out all but the last period of each subscription.
    ///   - deadline: ends all attempts; nil for none.
    package func describe(
        _ receipt: [UInt8], sharedSecret: Secret, excludesOld: Bool = false, by deadline: NIODeadline? = nil
    ) async throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        var writer = JSONWriter()
        writer.member("receipt-data", utf8: Base64.text(of: receipt))
        writer.member("password", sharedSecret.reveal)
        writer.member("exclude-old-transactions", excludesOld)
        let body = writer.finish()
        do throws(ReceiptServiceFailure) {
            return try await ask(.production, body, by: deadline)
        } catch {
            guard case .status(.ofSandbox) = error else { throw error }
            return try await ask(.sandbox, body, by: deadline)
        }
    }

    private func ask(
        _ environment: AppStoreEnvironment, _ body: [UInt8], by deadline: NIODeadline?
    ) async throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        var attempt = 0
        while true {
            attempt += 1
            do throws(ReceiptServiceFailure) {
                return try read(await exchange(environment, body, by: deadline), from: environment)
            } catch {
                guard error.isRetryable, attempt < Self.maximumAttempts,
                    await waits(beforeRetry: attempt, by: deadline)
                else { throw error }
            }
        }
    }

    private func exchange(
        _ environment: AppStoreEnvironment, _ body: [UInt8], by deadline: NIODeadline?
    ) async throws(ReceiptServiceFailure) -> APIResponse {
        var timeout = Self.attemptTimeout
        if let deadline {
            let rest = Duration(deadline - pacing.uptime())
            guard rest > .zero else { throw .timedOut }
            timeout = min(rest, timeout)
        }
        let url = (environment == .production ? hosts.production : hosts.sandbox) + "/verifyReceipt"
        do {
            return try await transport.exchange(
                APIRequest(url: url, method: "POST", body: body, authorization: nil), timeout: timeout)
        } catch {
            switch error {
            case .unreachable(let reason): throw .unreachable(reason)
            case .timedOut: throw .timedOut
            case .tooLarge: throw .unreadable(AnswerError("it is too large"))
            }
        }
    }

    private func read(
        _ response: APIResponse, from environment: AppStoreEnvironment
    ) throws(ReceiptServiceFailure) -> ReceiptServiceAnswer {
        guard response.status == 200 else { throw .httpStatus(response.status) }
        return try ReceiptServiceAnswer(json: response.body, from: environment)
    }

    private func waits(beforeRetry number: Int, by deadline: NIODeadline?) async -> Bool {
        let delay = Self.firstDelay * (1 << (number - 1)) * (0.5 + pacing.chance())
        if let deadline, pacing.uptime() + TimeAmount(delay) >= deadline { return false }
        return (try? await pacing.sleep(delay)) != nil
    }
}

/// The base URLs of `verifyReceipt`, without the path.
package struct ReceiptServiceHosts: Hashable, Sendable {
    package let production: String
    package let sandbox: String

    /// - Parameters: nil for Apple's.
    package init(production: String? = nil, sandbox: String? = nil) {
        self.production = production ?? "https://buy.itunes.apple.com"
        self.sandbox = sandbox ?? "https://sandbox.itunes.apple.com"
    }
}

/// The reason that `verifyReceipt` did not describe a receipt.
package enum ReceiptServiceFailure: Error, Hashable, Sendable {
    case status(ReceiptServiceStatus)
    /// A status after which the same request may succeed.
    case temporary(ReceiptServiceStatus)
    case httpStatus(Int)
    case unreachable(String)
    case timedOut
    case unreadable(AnswerError)

    package var isRetryable: Bool {
        switch self {
        case .temporary, .unreachable, .timedOut: true
        case .httpStatus(let status): status >= 500
        case .status, .unreadable: false
        }
    }
}

extension ReceiptServiceFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let status), .temporary(let status): "\(status.rawValue): \(status.sentence)"
        case .httpStatus(let status): "the receipt service answered with HTTP status \(status)"
        case .unreachable(let reason): reason
        case .timedOut: "the receipt service did not answer in time"
        case .unreadable(let error): "the answer cannot be read: \(error.reason)"
        }
    }
}
