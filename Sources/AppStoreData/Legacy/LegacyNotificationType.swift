import OfferCore
import OfferEligibility

package struct LegacyNotificationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let cancel = Self(rawValue: "CANCEL")
    package static let consumptionRequest = Self(rawValue: "CONSUMPTION_REQUEST")
    package static let didChangeRenewalPreference = Self(rawValue: "DID_CHANGE_RENEWAL_PREF")
    package static let didChangeRenewalStatus = Self(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    package static let didFailToRenew = Self(rawValue: "DID_FAIL_TO_RENEW")
    package static let didRecover = Self(rawValue: "DID_RECOVER")
    package static let didRenew = Self(rawValue: "DID_RENEW")
    package static let initialBuy = Self(rawValue: "INITIAL_BUY")
    package static let interactiveRenewal = Self(rawValue: "INTERACTIVE_RENEWAL")
    package static let priceIncreaseConsent = Self(rawValue: "PRICE_INCREASE_CONSENT")
    package static let refund = Self(rawValue: "REFUND")
    /// Apple removed this type in March 2021.
    package static let renewal = Self(rawValue: "RENEWAL")
    package static let revoke = Self(rawValue: "REVOKE")
}

/// The type and subtype of a notification, as named in version 2.
package struct NotificationName: Hashable, Sendable {
    package let type: NotificationType
    package let subtype: NotificationSubtype?

    package init(_ type: NotificationType, _ subtype: NotificationSubtype? = nil) {
        self.type = type
        self.subtype = subtype
    }
}

extension LegacyNotificationType {
    /// The nearest name in version 2 for each type. If several names are close, only the state of the subscription
    /// could decide between them.
    package static let successors: [Self: NotificationName] = [
        .cancel: NotificationName(.refund),
        .consumptionRequest: NotificationName(.consumptionRequest),
        .didChangeRenewalPreference: NotificationName(.didChangeRenewalPreference, .downgrade),
        .didChangeRenewalStatus: NotificationName(.didChangeRenewalStatus),
        .didFailToRenew: NotificationName(.didFailToRenew),
        .didRecover: NotificationName(.didRenew, .billingRecovery),
        .didRenew: NotificationName(.didRenew),
        .initialBuy: NotificationName(.subscribed, .initialBuy),
        // After an upgrade, version 2 sends DID_CHANGE_RENEWAL_PREF with the subtype UPGRADE.
        .interactiveRenewal: NotificationName(.subscribed, .resubscribe),
        .priceIncreaseConsent: NotificationName(.priceIncrease),
        .refund: NotificationName(.refund),
        .renewal: NotificationName(.didRenew, .billingRecovery),
        .revoke: NotificationName(.revoke),
    ]

    /// The nearest name in version 2. An unknown type keeps its own name.
    package var successor: NotificationName {
        Self.successors[self] ?? NotificationName(NotificationType(rawValue: rawValue))
    }
}

extension LegacyNotification {
    /// The nearest name in version 2, for logs and metrics. The unsigned members that determine it affect nothing else.
    package var name: NotificationName {
        let name = type.successor
        return NotificationName(name.type, subtype ?? name.subtype)
    }

    /// The subtype derived from the other members.
    private var subtype: NotificationSubtype? {
        switch type {
        case .didChangeRenewalStatus: autoRenews.map { $0 ? .autoRenewEnabled : .autoRenewDisabled }
        case .didFailToRenew: pendingRenewal?.hasGracePeriod == true ? .gracePeriod : nil
        case .priceIncreaseConsent: pendingRenewal?.priceConsent.map { $0 == .accepted ? .accepted : .pending }
        default: nil
        }
    }

    /// The pending renewal of the subscription that the notification is about.
    private var pendingRenewal: LegacyPendingRenewal? {
        guard let originalTransactionID else { return nil }
        return pendingRenewals.first { $0.originalTransactionID == originalTransactionID }
    }
}
