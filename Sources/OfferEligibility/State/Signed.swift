import OfferCore

/// A part of a fact, with the time at which the App Store signed it.
struct Signed<Value> {
    let value: Value
    let signedDate: Timestamp
}
