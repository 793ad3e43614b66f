/// One value for each arm.
package struct ByArm<Value> {
    package var offered: Value
    package var heldOut: Value

    package init(_ offered: Value, _ heldOut: Value) {
        self.offered = offered
        self.heldOut = heldOut
    }

    package subscript(arm: ExposedCustomer.Arm) -> Value {
        get { arm == .offered ? offered : heldOut }
        set {
            switch arm {
            case .offered: offered = newValue
            case .heldOut: heldOut = newValue
            }
        }
    }
}

extension ByArm: Sendable where Value: Sendable {}
extension ByArm: Equatable where Value: Equatable {}
extension ByArm: Hashable where Value: Hashable {}
extension ByArm: Encodable where Value: Encodable {}
extension ByArm: Decodable where Value: Decodable {}

extension ByArm<Int> {
    init() { self.init(0, 0) }

    package var total: Int { offered + heldOut }
}

extension ByArm<Share> {
    init() { self.init(Share(), Share()) }

    package func difference(plannedSize: Double) -> Difference? {
        Difference(offered, heldOut, plannedSize: plannedSize)
    }

    static func += (left: inout Self, right: Self) {
        left.offered += right.offered
        left.heldOut += right.heldOut
    }
}

extension Share {
    static func += (left: inout Share, right: Share) {
        left.count += right.count
        left.total += right.total
    }
}
