import AppStoreData
import ArgumentParser
import OfferCore
import OfferEligibility

// Values of the options of `offer-signer app-store inspect`. An invalid value is a usage error, with exit status 64.

extension InspectedKind {
    /// The kinds that can be verified.
    static let choices = allCases.filter { $0 != .legacyReceipt }

    init(option text: String) throws {
        guard let kind = Self.choices.first(where: { $0.rawValue == text }) else {
            throw ValidationError("It must be one of \(Self.choices.map(\.rawValue).joined(separator: ", ")).")
        }
        self = kind
    }
}

extension BundleID {
    init(option text: String) throws {
        do { self = try BundleID(utf8: Array(text.utf8), field: "It") } catch {
            throw ValidationError(error.description)
        }
    }
}

extension Int64 {
    init(appAppleID text: String) throws {
        guard let id = Int64(text), id > 0 else { throw ValidationError("It must be a positive number.") }
        self = id
    }
}

extension AppStoreEnvironment {
    init(option text: String) throws {
        let environments = [Self.production, .sandbox, .xcode, .localTesting]
        guard let environment = environments.first(where: { $0.rawValue == text }) else {
            throw ValidationError("It must be one of \(environments.map(\.rawValue).joined(separator: ", ")).")
        }
        self = environment
    }
}

extension Timestamp {
    init(option text: String) throws {
        guard let time = Timestamp(inspectionTime: text) else {
            throw ValidationError("It must be a time such as 2026-11-22T10:00:00Z, or milliseconds since 1970.")
        }
        self = time
    }
}

extension DeviceIdentifier {
    /// - Parameter text: hexadecimal digits, perhaps with the hyphens of a UUID or the colons of a MAC address.
    init(option text: String) throws {
        guard let device = DeviceIdentifier(hexadecimal: text.filter { $0 != "-" && $0 != ":" }) else {
            throw ValidationError("It must be 16 or 6 bytes in hexadecimal.")
        }
        self = device
    }
}
