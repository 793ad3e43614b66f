import OfferCore
package import SubscriberSync

extension Problem {
    package init(_ error: NotificationBodyError) {
        self =
            switch error {
            case .json(let error): .unreadableJSON(error)
            case .notAnObject: .notAnObject
            case .payloadIsNoString(let found): .wrongType(field: "signedPayload", expected: "a string", found: found)
            case .noPayload: .missingField("signedPayload")
            case .refused(let refusal): .notificationRefused(refusal)
            }
    }
}
