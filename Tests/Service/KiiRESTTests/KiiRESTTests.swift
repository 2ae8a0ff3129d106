import Testing
import WebExchange

@testable import KiiREST
