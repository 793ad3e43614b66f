#if canImport(StoreKit)
    import Foundation
    public import StoreKit

    extension DeviceProofs {
        /// The service accepts 50 proofs: this many of each kind, and the app transaction.
        private static let most = 24

        /// Gathers what StoreKit knows of the customer: the newest subscription transactions, the renewal infos of their groups, and the
        /// app transaction. It never asks the customer to sign in.
        /// - Parameter product: a product whose subscription group comes first.
        public static func gathered(for product: Product? = nil) async -> DeviceProofs {
            var found: [(transaction: Transaction, jws: String)] = []
            for await result in Transaction.all {
                guard case .verified(let transaction) = result, transaction.productType == .autoRenewable else {
                    continue
                }
                found.append((transaction, result.jwsRepresentation))
            }
            found.sort { $0.transaction.purchaseDate > $1.transaction.purchaseDate }
            var groups: [String] = []
            let preferred = product?.subscription?.subscriptionGroupID
            for group in [preferred] + found.map(\.transaction.subscriptionGroupID) {
                if let group, !groups.contains(group) { groups.append(group) }
            }
            var proofs = DeviceProofs()
            for group in groups {
                for status in (try? await Product.SubscriptionInfo.status(for: group)) ?? [] {
                    guard case .verified = status.transaction, case .verified = status.renewalInfo,
                        proofs.signedRenewalInfos.count < most
                    else { continue }
                    proofs.signedTransactions.append(status.transaction.jwsRepresentation)
                    proofs.signedRenewalInfos.append(status.renewalInfo.jwsRepresentation)
                }
            }
            for (_, jws) in found
            where proofs.signedTransactions.count < most && !proofs.signedTransactions.contains(jws) {
                proofs.signedTransactions.append(jws)
            }
            let bound = found.first { $0.transaction.subscriptionGroupID == preferred } ?? found.first
            proofs.transactionID = bound.map { String($0.transaction.id) }
            if #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *), let result = try? await AppTransaction.shared,
                case .verified(let app) = result
            {
                proofs.signedAppTransaction = result.jwsRepresentation
                proofs.environment = app.environment.rawValue
                if proofs.transactionID == nil { proofs.transactionID = app.appTransactionID }
            }
            return proofs
        }
    }
#endif
