public import Foundation

/// Sends requests to the service. ``URLSessionTransport`` is the usual one.
public protocol OfferTransport: Sendable {
    /// Sends a request once, without repeating it.
    /// - Throws: ``TransportFailure``. Any other error counts as ``TransportFailure/Kind/noAnswer``.
    func send(_ request: TransportRequest) async throws -> TransportAnswer
}

/// A `POST` request with a JSON body.
public struct TransportRequest: Hashable, Sendable {
    /// The path below the service's URL, without a leading slash.
    public let path: String
    public let headers: [String: String]
    public let body: Data
}

/// An answer of any status.
public struct TransportAnswer: Hashable, Sendable {
    public let status: Int
    public let body: Data
    private let headers: [String: String]

    public init(status: Int, headers: [String: String], body: Data) {
        self.status = status
        self.body = body
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
    }

    /// - Parameter name: in any letter case.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }
}

/// A request that got no answer.
public struct TransportFailure: Error, Hashable, Sendable {
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request may have arrived, so the client repeats it with the same key.
        public static let noAnswer = Kind(rawValue: "no_answer")
        /// The server's identity could not be verified. Repeating would not help.
        public static let notSecure = Kind(rawValue: "not_secure")
        public static let cancelled = Kind(rawValue: "cancelled")
    }

    public let kind: Kind
    public let detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
