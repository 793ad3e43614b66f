import Foundation

/// A validator for the subset of JSON Schema (2020-12) that the contract uses. An unknown keyword is an error, so no
/// part of the contract goes unchecked.
struct JSONSchema {
    /// The document in which references are resolved.
    let document: [String: Any]

    /// - Returns: the errors in `value`, each with its location.
    func faults(of value: Any, against schema: Any, at place: String = "$") -> [String] {
        guard let schema = schema as? [String: Any] else {
            return schema as? Bool == true ? [] : ["\(place): no value is allowed here"]
        }
        return schema.sorted { $0.key < $1.key }.flatMap { keyword, argument in
            faults(of: value, by: keyword, argument, in: schema, at: place)
        }
    }

    /// Resolves a reference such as `#/components/schemas/Problem`.
    func resolve(_ reference: String) -> Any? {
        reference.split(separator: "/").dropFirst().reduce(document as Any?) { node, name in
            (node as? [String: Any])?[String(name)]
        }
    }

    private func faults(
        of value: Any, by keyword: String, _ argument: Any, in schema: [String: Any], at place: String
    ) -> [String] {
        func fault(unless holds: Bool) -> [String] { holds ? [] : ["\(place): violates \(keyword) \(argument)"] }
        let text = value as? String
        let object = value as? [String: Any]
        switch keyword {
        case "description", "examples", "format", "default": return []
        case "$ref":
            guard let target = resolve(argument as? String ?? "") else {
                return ["\(place): cannot resolve \(argument)"]
            }
            return faults(of: value, against: target, at: place)
        case "type":
            let types = argument as? [String] ?? [argument as? String ?? ""]
            return fault(unless: types.contains { Self.type(of: value, is: $0) })
        case "const": return fault(unless: Self.areEqual(value, argument))
        case "enum": return fault(unless: (argument as? [Any] ?? []).contains { Self.areEqual(value, $0) })
        case "minimum": return fault(unless: (value as? Double).map { $0 >= argument as? Double ?? .infinity } ?? true)
        case "maximum": return fault(unless: (value as? Double).map { $0 <= argument as? Double ?? -.infinity } ?? true)
        case "minLength": return fault(unless: text.map { $0.unicodeScalars.count >= argument as? Int ?? .max } ?? true)
        case "maxLength": return fault(unless: text.map { $0.unicodeScalars.count <= argument as? Int ?? 0 } ?? true)
        case "pattern": return fault(unless: text.map { Self.matches($0, argument as? String ?? "") } ?? true)
        case "minProperties": return fault(unless: object.map { $0.count >= argument as? Int ?? .max } ?? true)
        case "maxProperties": return fault(unless: object.map { $0.count <= argument as? Int ?? 0 } ?? true)
        case "minItems": return fault(unless: (value as? [Any]).map { $0.count >= argument as? Int ?? .max } ?? true)
        case "maxItems": return fault(unless: (value as? [Any]).map { $0.count <= argument as? Int ?? 0 } ?? true)
        case "required":
            return fault(unless: object.map { Set(argument as? [String] ?? ["?"]).isSubset(of: $0.keys) } ?? true)
        case "dependentRequired":
            return (argument as? [String: [String]] ?? [:]).flatMap { name, needed in
                fault(unless: object.map { $0[name] == nil || Set(needed).isSubset(of: $0.keys) } ?? true)
            }
        case "properties":
            return (argument as? [String: Any] ?? [:]).flatMap { name, schema in
                object?[name].map { faults(of: $0, against: schema, at: "\(place).\(name)") } ?? []
            }
        case "additionalProperties":
            let known = (schema["properties"] as? [String: Any] ?? [:]).keys
            return (object ?? [:]).filter { !known.contains($0.key) }.flatMap { name, value in
                faults(of: value, against: argument, at: "\(place).\(name)")
            }
        case "propertyNames":
            return (object ?? [:]).keys.flatMap { faults(of: $0, against: argument, at: "\(place), name \($0)") }
        case "items":
            return (value as? [Any] ?? []).enumerated().flatMap { index, element in
                faults(of: element, against: argument, at: "\(place)[\(index)]")
            }
        case "allOf": return (argument as? [Any] ?? []).flatMap { faults(of: value, against: $0, at: place) }
        case "anyOf":
            return fault(unless: (argument as? [Any] ?? []).contains { faults(of: value, against: $0).isEmpty })
        case "oneOf":
            return fault(
                unless: (argument as? [Any] ?? []).filter { faults(of: value, against: $0).isEmpty }.count == 1)
        case "not": return fault(unless: !faults(of: value, against: argument).isEmpty)
        default: return ["\(place): unknown keyword \(keyword)"]
        }
    }

    private static func type(of value: Any, is type: String) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "integer": value is Int
        case "number": value is Double
        case "boolean": value is Bool
        case "null": value is NSNull
        default: false
        }
    }

    private static func areEqual(_ one: Any, _ other: Any) -> Bool {
        (one as? NSObject)?.isEqual(other) ?? false
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        guard let expression = try? NSRegularExpression(pattern: pattern) else { return false }
        // NSRange counts UTF-16 code units, as JavaScript does.
        return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }
}
