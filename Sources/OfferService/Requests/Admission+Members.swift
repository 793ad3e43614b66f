import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP

extension Admission {
    /// Reads the members of a request, as ``RequestMembers`` does, but with hashed usernames if the caller is
    /// configured for that. If the configuration has only one app, the request need not name it.
    /// - Parameter namesApp: false for a request without `bundleID`.
    func members(
        of request: HTTPRequest, maximumCount: Int = JSONReader.Limit.count, namesApp: Bool = true
    ) throws(Problem) -> JSONObject {
        var members = try RequestMembers.read(request, maximumCount: maximumCount)
        if namesApp, let app = policy.catalogue?.onlyApp { members = members.naming(app) }
        guard principal.hashesUsernames else { return members }
        do { return try UsernameHash.replacing(in: members) } catch { throw .signingUnavailable }
    }
}

extension JSONObject {
    /// Returns the members of a request about an app, with its `bundleID` where the request leaves it out: in each offer of a
    /// list of offers, otherwise in the request itself.
    fileprivate func naming(_ app: BundleID) -> JSONObject {
        guard case .array(let offers)? = self["offers"] else {
            var copy = self
            if self["bundleID"] == nil { _ = copy.add(Array("bundleID".utf8), .string(Array(app.text.utf8))) }
            return copy
        }
        let named = offers.map { offer -> JSONValue in
            if case .object(let members) = offer { .object(members.naming(app)) } else { offer }
        }
        return mapValues { $0.name.elementsEqual("offers".utf8) ? .array(named) : $0.value }
    }
}
