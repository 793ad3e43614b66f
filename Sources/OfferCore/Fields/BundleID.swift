/// The bundle identifier of the app, exactly as registered (case-sensitive). It is the first field of the payload.
///
/// Its name on the wire is `appBundleID` in Apple's sample and `bundleID` in `/v1`. It has at most 155 bytes, App Store
/// Connect's limit.
package struct BundleID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "appBundleID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...155)
    }
}
