import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility

/// The endpoints of the App Store Server API for one world.
struct Answers: Sendable {
    let world: StandInWorld
    /// The world of the other environment.
    let others: StandInWorld
    /// The shared secret of the app, for receipts.
    let sharedSecret: String
    let limits: HourlyLimits
    let retention: RetentionDesk
    let now: @Sendable () -> Int64
    /// Called with each test notification that is requested.
    let onTest: @Sendable (StandInWorld.Notification) -> Void

    /// The name of an endpoint, for statistics and faults, and the transaction that a request is about.
    static func endpoint(of request: StandInRequest) -> (name: String, transaction: String?) {
        let path = request.path
        if let name = RetentionDesk.endpoint(request.method, path) { return (name, nil) }
        switch (request.method, path.count) {
        case ("POST", 1) where path[0] == "verifyReceipt": return ("verify_receipt", nil)
        case ("GET", 4) where path[2] == "subscriptions": return ("subscription_statuses", path[3])
        case ("GET", 4) where path[2] == "history": return ("transaction_history", path[3])
        case ("GET", 4) where path[2] == "lookup": return ("order_lookup", nil)
        case ("GET", 4) where path[2] == "transactions": return ("transaction_info", path[3])
        case ("GET", 5) where path[3] == "appTransactions": return ("app_transaction_info", path[4])
        case ("GET", 5) where path[3] == "test": return ("test_notification_status", nil)
        case ("POST", 4) where path[3] == "history": return ("notification_history", nil)
        case ("POST", 4) where path[3] == "test": return ("test_notification", nil)
        case ("PUT", 5) where path[4] == "appAccountToken": return ("app_account_token", path[3])
        default: return ("unknown", nil)
        }
    }

    /// - Parameter fault: what goes wrong with the content, if anything does.
    func answer(_ request: StandInRequest, fault: Fault?) throws -> [UInt8] {
        let (name, transaction) = Self.endpoint(of: request)
        let (id, time, isAnothers) = (transaction ?? "", now(), fault == .anotherApp)
        if RetentionDesk.endpoint(request.method, request.path) != nil { return try retention.answer(name, request) }
        switch name {
        case "subscription_statuses":
            let filter = Set(request.query.filter { $0.name == "status" }.compactMap { Int($0.value) })
            return try world.statuses(id, filter: filter, at: time, ofAnotherApp: isAnothers)
        case "transaction_history":
            return try world.history(id, revision: request.value("revision"), at: time, ofAnotherApp: isAnothers)
        case "order_lookup": return try world.order(request.path[3], at: time, ofAnotherApp: isAnothers)
        case "transaction_info": return try world.transactionInfo(id, at: time, ofAnotherApp: isAnothers)
        case "app_transaction_info": return try world.appTransactionInfo(id, at: time)
        case "notification_history":
            let body = try members(request)
            guard let start = Self.number(body["startDate"]) else {
                throw StandInWorld.Refusal(4_000_015, "Invalid start date.")
            }
            guard let end = Self.number(body["endDate"]) else {
                throw StandInWorld.Refusal(4_000_016, "Invalid end date.")
            }
            let query = StandInWorld.HistoryQuery(
                start: start, end: end, onlyFailures: body["onlyFailures"] == .bool(true))
            return try world.notificationHistory(
                query, token: request.value("paginationToken"), at: time, ofAnotherApp: isAnothers)
        case "test_notification":
            let notification = world.addTest(at: time)
            onTest(notification)
            var writer = JSONWriter()
            writer.member("testNotificationToken", notification.uuid)
            return writer.finish()
        case "test_notification_status": return try world.testStatus(request.path[4])
        case "verify_receipt": return try describeReceipt(members(request))
        case "app_account_token":
            guard case .string(let token)? = try members(request)["appAccountToken"] else {
                throw StandInWorld.Refusal(
                    4_000_183, "Invalid request. The app account token field must be a valid UUID.")
            }
            try world.setAppAccountToken(String(decoding: token, as: UTF8.self), of: id)
            return []
        default: throw StandInWorld.Refusal(4_040_003, "App not found.")
        }
    }

    private func describeReceipt(_ members: JSONObject) -> [UInt8] {
        guard case .string(let text)? = members["receipt-data"], let receipt = Base64.bytes(of: text) else {
            return StandInWorld.status(21_002)
        }
        guard members["password"] == .string(Array(sharedSecret.utf8)) else { return StandInWorld.status(21_004) }
        return world.verifyReceipt(
            receipt, beside: others, excludesOld: members["exclude-old-transactions"] == .bool(true), at: now())
    }

    private func members(_ request: StandInRequest) throws -> JSONObject {
        guard case .object(let members)? = try? JSONReader.read(request.body) else {
            throw StandInWorld.Refusal(4_000_000, "Bad request.")
        }
        return members
    }

    private static func number(_ value: JSONValue?) -> Int64? {
        guard case .number(let digits)? = value else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
