import Foundation
import NIOConcurrencyHelpers
import OfferCore
package import OfferCrypto
package import TestSupport

/// A stand-in for App Store Connect over real TLS: the routes that read subscriptions, and what goes wrong with them.
package final class AppStoreConnectStandIn: Sendable {
    /// What goes wrong with a request.
    package enum Fault: Sendable {
        case status(Int)
        /// 403, with an error of this code.
        case forbidden(String)
        /// 429, with these headers.
        case limited([String: String])
        /// The HTML page of a gateway.
        case html(status: Int)
        /// No answer at all.
        case silence
        case delay(milliseconds: Int)
        /// 401 with a `Date` so many seconds from now.
        case clock(Int)
        case redirect(String)
    }

    /// A request as it arrived.
    package struct Seen: Sendable {
        package let method: String
        package let path: String
        package let authorization: String?
    }

    private struct State {
        var catalogue: ConnectCatalogue
        var faults: [Fault] = []
        var seen: [Seen] = []
        var concurrent = 0
        var mostConcurrent = 0
        var pageSize = 200
        var isSparse = false
        var oddEntries: [String] = []
        var linkBase: String?
        var headers: [String: String] = [:]
        var change: ConnectAnswers.Change?
        /// The status of each list that is refused, by the last part of its path.
        var statuses: [String: Int] = [:]
        var delay = 0
        var key: (id: String, key: SigningKey)?
    }

    package let tls: TLSCertificates
    private let state: NIOLockedValueBox<State>
    private let server: NIOLockedValueBox<TLSServer?>
    private let issuerID: String?
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - issuerID: the issuer of team keys; nil to expect individual keys.
    ///   - key: the key that is accepted; nil to accept any token.
    ///   - now: the clock, in milliseconds since 1970.
    package init(
        _ catalogue: ConnectCatalogue, folder: String, issuerID: String? = nil,
        key: (id: String, key: SigningKey)? = nil,
        port: Int = 0, now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }
    ) async throws {
        tls = try TLSCertificates(folder: folder + "/tls")
        state = NIOLockedValueBox(State(catalogue: catalogue, key: key))
        server = NIOLockedValueBox(nil)
        self.issuerID = issuerID
        self.now = now
        let server = try await TLSServer(tls, port: port) { [weak self] request in
            await self?.answer(request) ?? StandInResponse(status: 503)
        }
        self.server.withLockedValue { $0 = server }
    }

    package var url: String { server.withLockedValue { $0?.url ?? "" } }

    package var catalogue: ConnectCatalogue {
        get { state.withLockedValue { $0.catalogue } }
        set { state.withLockedValue { $0.catalogue = newValue } }
    }

    package var seen: [Seen] { state.withLockedValue { $0.seen } }

    /// The most requests that were under way at the same time.
    package var mostConcurrent: Int { state.withLockedValue { $0.mostConcurrent } }

    /// The faults of the next requests, in order.
    package func add(_ faults: Fault...) { state.withLockedValue { $0.faults += faults } }

    package func setPageSize(_ size: Int) { state.withLockedValue { $0.pageSize = size } }

    package func setSparse(_ isSparse: Bool) { state.withLockedValue { $0.isSparse = isSparse } }

    /// - Parameter json: entries that are added to each list.
    package func setOddEntries(_ json: [String]) { state.withLockedValue { $0.oddEntries = json } }

    /// - Parameter base: the beginning of the links in answers.
    package func setLinkBase(_ base: String) { state.withLockedValue { $0.linkBase = base } }

    package func setHeaders(_ headers: [String: String]) { state.withLockedValue { $0.headers = headers } }

    /// - Parameter change: changes the document of each answer. Its first argument is the path after `/v1`.
    package func setChange(_ change: @escaping @Sendable (String, inout [String: Any]) -> Void) {
        state.withLockedValue { $0.change = change }
    }

    /// - Parameter list: the last part of the path of the lists that are refused with this status.
    package func setStatus(_ status: Int, of list: String) { state.withLockedValue { $0.statuses[list] = status } }

    /// - Parameter milliseconds: the time that each answer takes.
    package func setDelay(milliseconds: Int) { state.withLockedValue { $0.delay = milliseconds } }

    package func stop() async { await server.withLockedValue { $0 }?.stop() }

    private func answer(_ request: StandInRequest) async -> StandInResponse {
        let (fault, delay) = state.withLockedValue { state -> (Fault?, Int) in
            state.seen.append(
                Seen(
                    method: request.method, path: "/" + request.path.joined(separator: "/"),
                    authorization: request.authorization))
            state.concurrent += 1
            state.mostConcurrent = max(state.mostConcurrent, state.concurrent)
            return (state.faults.isEmpty ? nil : state.faults.removeFirst(), state.delay)
        }
        defer { state.withLockedValue { $0.concurrent -= 1 } }
        if delay > 0 { try? await Task.sleep(for: .milliseconds(delay)) }
        switch fault {
        case .silence?: try? await Task.sleep(for: .seconds(3600))
        case .delay(let milliseconds)?: try? await Task.sleep(for: .milliseconds(milliseconds))
        default: break
        }
        return response(to: request, fault)
    }

    private func response(to request: StandInRequest, _ fault: Fault?) -> StandInResponse {
        switch fault {
        case .status(let status)?: return StandInResponse(status: status)
        case .forbidden(let code)?:
            let error =
                #"{"errors":[{"status":"403","code":"\#(code)","title":"Forbidden","detail":"Not permitted."}]}"#
            return StandInResponse(status: 403, body: Array(error.utf8))
        case .limited(let headers)?:
            let error = #"{"errors":[{"status":"429","code":"RATE_LIMIT_EXCEEDED","title":"Too many requests."}]}"#
            return StandInResponse(status: 429, headers: headers.map { ($0.key, $0.value) }, body: Array(error.utf8))
        case .html(let status)?:
            return StandInResponse(status: status, body: Array("<html><h1>Bad Gateway</h1></html>".utf8))
        case .clock(let seconds)?:
            return StandInResponse(
                status: 401, headers: [("Date", AppStoreStandIn.httpDate(now() + Int64(seconds) * 1000))])
        case .redirect(let url)?: return StandInResponse(status: 302, headers: [("Location", url)])
        case .delay?, .silence?, nil: break
        }
        guard request.method == "GET" else { return StandInResponse(status: 405) }
        let state = state.withLockedValue { $0 }
        if let key = state.key {
            let check = TokenCheck(keys: [key.id: key.key], issuerID: issuerID, bundleID: nil, longest: 1200)
            guard check.accepts(request.authorization, at: now()) else { return StandInResponse(status: 401) }
        }
        if let status = request.path.last.flatMap({ state.statuses[$0] }) { return StandInResponse(status: status) }
        let odd = state.oddEntries.compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8), options: [.fragmentsAllowed])
        }
        let answers = ConnectAnswers(
            catalogue: state.catalogue,
            form: ConnectAnswers.Form(
                pageSize: state.pageSize, isSparse: state.isSparse, oddEntries: odd, linkBase: state.linkBase ?? url,
                change: state.change))
        guard let body = answers.answer(request) else {
            let error = #"{"errors":[{"status":"404","code":"NOT_FOUND","title":"There is no such resource."}]}"#
            return StandInResponse(status: 404, body: Array(error.utf8))
        }
        return StandInResponse(headers: state.headers.map { ($0.key, $0.value) }, body: Array(body))
    }
}
