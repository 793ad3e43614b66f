import OfferConsole
import OfferCore
import OfferEligibility
import OfferService

/// The address of a customer's page: the app, the environment, and one identifier.
struct CustomerAddress: Hashable {
    let app: AppScope
    let identifier: CustomerIdentifier

    static let fields = [
        FormReader.Field("app", maximumBytes: 255), FormReader.Field("environment", maximumBytes: 16),
        FormReader.Field("kind", maximumBytes: 32), FormReader.Field("id", maximumBytes: 512),
    ]

    init(_ app: AppScope, _ identifier: CustomerIdentifier) {
        self.app = app
        self.identifier = identifier
    }

    init(_ values: FormValues) throws(ConsoleRefusal) {
        do throws(FieldError) {
            let bundleID = try BundleID(utf8: Array((values["app"] ?? "").utf8))
            guard let environment = AppStoreEnvironment.known.first(where: { $0.rawValue == values["environment"] }),
                let kind = values["kind"].flatMap(CustomerIdentifier.Kind.init)
            else { throw FieldError(field: "kind", reason: .notOneOf(CustomerIdentifier.Kind.names)) }
            app = AppScope(bundleID: bundleID, environment: environment)
            identifier = try CustomerIdentifier(kind, utf8: Array((values["id"] ?? "").utf8), field: "id")
        } catch { throw .problem(.notFound) }
    }

    var page: PageAddress {
        PageAddress("/customer").with("app", app.bundleID.text.description)
            .with("environment", app.environment.rawValue).with("kind", identifier.kind.rawValue)
            .with("id", String(decoding: identifier.utf8, as: UTF8.self))
    }

    var reference: CustomerReference {
        CustomerReference(bundleID: app.bundleID, identifier: identifier, environment: app.environment)
    }
}
