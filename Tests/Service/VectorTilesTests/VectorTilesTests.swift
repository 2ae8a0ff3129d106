import Testing
import WebExchange

@testable import VectorTiles
