public import Foundation

/// https://developer.apple.com/documentation/storekit/transaction
public struct Transaction: Identifiable, Sendable {
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let productType: Product.ProductType
    public let subscriptionGroupID: String?
    public let purchaseDate: Date
    public let appAccountToken: UUID?
    /// https://developer.apple.com/documentation/storekit/transaction/offer-swift.property
    public let offer: Offer?
    /// https://developer.apple.com/documentation/storekit/transaction/offerid
    public var offerID: String? { offer?.id }
    public var offerType: OfferType? { offer?.type }
    let jws: String

    /// Ours: StoreKit makes transactions only for itself.
    public init(
        id: UInt64, originalID: UInt64, productID: String, productType: Product.ProductType = .autoRenewable,
        subscriptionGroupID: String?, purchaseDate: Date, appAccountToken: UUID? = nil, offer: Offer? = nil,
        jws: String = "transaction.jws"
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.productType = productType
        self.subscriptionGroupID = subscriptionGroupID
        self.purchaseDate = purchaseDate
        self.appAccountToken = appAccountToken
        self.offer = offer
        self.jws = jws
    }

    /// https://developer.apple.com/documentation/storekit/transaction/finish()
    public func finish() async { ScriptedAppStore.current.finish(id) }

    /// https://developer.apple.com/documentation/storekit/transaction/all
    public static var all: Transactions { Transactions(ScriptedAppStore.current.transactions) }

    /// https://developer.apple.com/documentation/storekit/transaction/latest(for:)
    public static func latest(for productID: String) async -> VerificationResult<Transaction>? {
        ScriptedAppStore.current.transactions.filter { $0.unsafePayloadValue.productID == productID }
            .max { $0.unsafePayloadValue.purchaseDate < $1.unsafePayloadValue.purchaseDate }
    }

    /// https://developer.apple.com/documentation/storekit/transaction/transactions
    public struct Transactions: AsyncSequence, Sendable {
        private let results: [VerificationResult<Transaction>]

        init(_ results: [VerificationResult<Transaction>]) { self.results = results }

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: results[...]) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<VerificationResult<Transaction>>

            public mutating func next() async -> VerificationResult<Transaction>? { rest.popFirst() }
        }
    }

    /// https://developer.apple.com/documentation/storekit/transaction/offertype-swift.struct
    public struct OfferType: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let introductory = OfferType(rawValue: 1)
        public static let promotional = OfferType(rawValue: 2)
        public static let code = OfferType(rawValue: 3)
        public static let winBack = OfferType(rawValue: 4)
    }

    /// https://developer.apple.com/documentation/storekit/transaction/offer-swift.struct
    public struct Offer: Hashable, Sendable {
        public let id: String?
        public let type: OfferType

        public init(id: String?, type: OfferType) {
            self.id = id
            self.type = type
        }
    }
}

/// https://developer.apple.com/documentation/storekit/verificationresult
@frozen public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error, Sendable {
        case revokedCertificate, invalidCertificateChain, invalidDeviceVerification, invalidEncoding, invalidSignature
        case missingRequiredProperties
    }

    /// https://developer.apple.com/documentation/storekit/verificationresult/unsafepayloadvalue
    public var unsafePayloadValue: SignedType {
        switch self {
        case .unverified(let value, _), .verified(let value): value
        }
    }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == Transaction {
    /// https://developer.apple.com/documentation/storekit/verificationresult/jwsrepresentation-21vgo
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    /// https://developer.apple.com/documentation/storekit/verificationresult/jwsrepresentation-178oj
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}

extension VerificationResult where SignedType == AppTransaction {
    /// https://developer.apple.com/documentation/storekit/verificationresult/jwsrepresentation-6ma59
    public var jwsRepresentation: String { unsafePayloadValue.jws }
}

/// https://developer.apple.com/documentation/storekit/apptransaction
public struct AppTransaction: Sendable {
    public let appTransactionID: String
    public let environment: AppStore.Environment
    let jws: String

    public init(appTransactionID: String, environment: AppStore.Environment, jws: String = "app.jws") {
        self.appTransactionID = appTransactionID
        self.environment = environment
        self.jws = jws
    }

    /// https://developer.apple.com/documentation/storekit/apptransaction/shared
    public static var shared: VerificationResult<AppTransaction> {
        get async throws {
            guard let value = ScriptedAppStore.current.appTransaction else { throw StoreKitError.unknown }
            return .verified(value)
        }
    }
}

/// https://developer.apple.com/documentation/storekit/appstore
public enum AppStore {
    /// https://developer.apple.com/documentation/storekit/appstore/environment
    public struct Environment: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let production = Environment(rawValue: "Production")
        public static let sandbox = Environment(rawValue: "Sandbox")
        public static let xcode = Environment(rawValue: "Xcode")
    }
}

/// https://developer.apple.com/documentation/storekit/storekiterror
public enum StoreKitError: Error, Sendable {
    case unknown, userCancelled, notAvailableInStorefront, notEntitled
    case networkError(URLError)
    case systemError(any Error)
}
