import Testing
import WebExchange

@testable import FeaturesAPI
