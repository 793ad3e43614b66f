/// The value of a curve at one time, with its band.
package struct CurvePoint: Hashable, Codable, Sendable {
    package let value: Double
    /// nil where the band is not defined: before the first end, at 0 and at 1.
    package let interval: Interval?
}
