extension OfferReport {
    /// What may be said about access, in a sentence.
    package var sentence: String {
        let day = question.effectDay
        let smallest = FixedText.points(question.smallestEffect)
        switch effect.verdict {
        case .noHoldout:
            return "Nothing can be said about the effect, because nobody was held out. Hold customers out with a share."
        case .tooEarly:
            return "It is too early: an arm has no customers who were exposed \(day) days ago."
        case .broken:
            return "Do not believe this report: the customers were not divided as the rule says."
        case .clear(let isGain):
            let size = FixedText.points(abs(effect.difference?.value ?? 0))
            return "Clear: on day \(day), \(size) points \(isGain ? "more" : "fewer") have access because of the offer."
        case .small:
            return "Clear: the effect on access on day \(day) is smaller than \(smallest) points."
        case .notClear(let more?) where more > 0:
            return
                "Not clear yet: about \(FixedText.grouped(more)) more customers are needed to see \(smallest) points."
        case .notClear(.some):
            return
                "Not clear yet. Enough customers were exposed to see \(smallest) points once all have reached day \(day); if they have, the effect is small."
        case .notClear(nil):
            return "Not clear yet: there are too few customers to say how many more are needed."
        }
    }
}

extension OfferReport.Paid {
    package var sentence: String {
        switch verdict {
        case .noHoldout, .tooEarly: return "Nothing can be said yet about the effect on payments in \(currency)."
        case .broken: return "Do not believe this comparison."
        case .clear(let isGain):
            let size = FixedText.amount(abs(difference?.value ?? 0))
            return
                "Clear: \(size) \(currency) \(isGain ? "more" : "less") per exposed customer up to day \(day) because of the offer."
        case .small, .notClear: return "Not clear yet for payments in \(currency) up to day \(day)."
        }
    }
}
