/// The customer in a permanent record, which stays after an erasure so that it still counts.
package enum RecordedCustomer: Hashable, Sendable {
    case customer(CustomerIdentifier)
    /// Random bytes in place of an erased customer.
    case erased([UInt8])

    /// nil after an erasure.
    package var customer: CustomerIdentifier? {
        switch self {
        case .customer(let identifier): identifier
        case .erased: nil
        }
    }

    func isOne(of customers: Set<CustomerIdentifier>) -> Bool { customer.map(customers.contains) ?? false }
}
