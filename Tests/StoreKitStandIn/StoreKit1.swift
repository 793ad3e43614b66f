public import Foundation

/// https://developer.apple.com/documentation/storekit/skproduct
open class SKProduct: NSObject {
    public let productIdentifier: String

    /// Ours: StoreKit makes products only for itself.
    public init(productIdentifier: String) { self.productIdentifier = productIdentifier }
}

/// https://developer.apple.com/documentation/storekit/skpaymentdiscount
open class SKPaymentDiscount: NSObject {
    public let identifier: String
    public let keyIdentifier: String
    public let nonce: UUID
    public let signature: String
    public let timestamp: NSNumber

    /// https://developer.apple.com/documentation/storekit/skpaymentdiscount/init(identifier:keyidentifier:nonce:signature:timestamp:)
    public init(identifier: String, keyIdentifier: String, nonce: UUID, signature: String, timestamp: NSNumber) {
        self.identifier = identifier
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.signature = signature
        self.timestamp = timestamp
    }
}

/// https://developer.apple.com/documentation/storekit/skpayment
open class SKPayment: NSObject {
    public let productIdentifier: String
    public fileprivate(set) var storedUsername: String?
    public fileprivate(set) var storedDiscount: SKPaymentDiscount?

    public init(product: SKProduct) { productIdentifier = product.productIdentifier }
}

/// https://developer.apple.com/documentation/storekit/skmutablepayment
open class SKMutablePayment: SKPayment {
    public var applicationUsername: String? {
        get { storedUsername }
        set { storedUsername = newValue }
    }

    public var paymentDiscount: SKPaymentDiscount? {
        get { storedDiscount }
        set { storedDiscount = newValue }
    }
}

/// https://developer.apple.com/documentation/storekit/skpaymenttransactionstate
public enum SKPaymentTransactionState: Int, Sendable {
    case purchasing, purchased, failed, restored, deferred
}

/// https://developer.apple.com/documentation/storekit/skpaymenttransaction
open class SKPaymentTransaction: NSObject {
    public let payment: SKPayment
    public let transactionState: SKPaymentTransactionState
    public let error: (any Error)?

    init(_ payment: SKPayment, _ state: SKPaymentTransactionState, _ error: (any Error)? = nil) {
        self.payment = payment
        transactionState = state
        self.error = error
    }
}

/// https://developer.apple.com/documentation/storekit/skpaymenttransactionobserver
public protocol SKPaymentTransactionObserver: AnyObject {
    func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
}

/// https://developer.apple.com/documentation/storekit/skpaymentqueue
///
/// Processes a payment when a test calls ``process()``.
open class SKPaymentQueue: NSObject {
    private var payments: [SKPayment] = []
    private weak var observer: (any SKPaymentTransactionObserver)?

    public func add(_ payment: SKPayment) { payments.append(payment) }

    public func add(_ observer: any SKPaymentTransactionObserver) { self.observer = observer }

    /// Ours: lets the App Store and the customer deal with each payment.
    @MainActor public func process() async {
        while let payment = payments.popLast() {
            let transaction = await ScriptedAppStore.current.transaction(for: payment)
            observer?.paymentQueue(self, updatedTransactions: [transaction])
        }
    }
}

/// https://developer.apple.com/documentation/storekit/skerror
public struct SKError: Error, Hashable, Sendable {
    public let code: Code

    public init(_ code: Code) { self.code = code }

    /// https://developer.apple.com/documentation/storekit/skerror/code
    public enum Code: Int, Sendable {
        case unknown, clientInvalid, paymentCancelled, paymentInvalid, paymentNotAllowed
        case unauthorizedRequestData = 10
        case invalidOfferIdentifier, invalidSignature, missingOfferParams, invalidOfferPrice
        case ineligibleForOffer = 18
    }
}

extension ScriptedAppStore {
    @MainActor fileprivate func transaction(for payment: SKPayment) async -> SKPaymentTransaction {
        let discount = payment.storedDiscount
        let presented = Presented(
            productID: payment.productIdentifier, offerID: discount?.identifier, appAccountToken: nil,
            applicationUsername: payment.storedUsername, keyID: discount?.keyIdentifier,
            nonce: discount?.nonce.uuidString.lowercased(), timestamp: discount?.timestamp.intValue,
            signature: discount?.signature)
        guard let outcome = await outcome(of: presented) else {
            return SKPaymentTransaction(payment, .failed, SKError(.invalidSignature))
        }
        switch outcome {
        case .cancels: return SKPaymentTransaction(payment, .failed, SKError(.paymentCancelled))
        case .waitsForApproval: return SKPaymentTransaction(payment, .deferred)
        case .fails(let error): return SKPaymentTransaction(payment, .failed, error)
        case .buys, .buysForNextPeriod, .buysWithoutOffer, .buysUnverified:
            _ = buy(presented, nil, outcome)
            return SKPaymentTransaction(payment, .purchased)
        }
    }
}
