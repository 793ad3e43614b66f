import OfferCore

/// The value of a fact and the time at which the App Store signed it.
struct Signed<Value> {
    let value: Value
    let signedDate: Timestamp
}
