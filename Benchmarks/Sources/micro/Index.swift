import Geodesy
import PersistentStructures
import SpatialIndex
import SyntheticData
import Workloads

/// `SpatialIndex`: searches and writes of a bare index.
func measureIndex() {
    let circles = queries(.q1)
    let boxes = queries(.q3)
    var sum = 0.0
    measure("index: circle, 100 hits with distances") { number in
        let circle = circles[number % circles.count].circle
        index.visit(in: .circle(circle), by: circle.distance) {
            for point in $0 { sum += point.distance.meters }
            return true
        }
    }
    measure("index: box, about 100 hits") { number in
        index.visit(in: .box(boxes[number % boxes.count].box)) {
            sum += Double($0) + $1.latitude
            return true
        }
    }
    let corridors = queries(.q9).compactMap(\.corridor)
    measure("index: corridor around 100 positions, 1,000 hits with distances", count: 200) {
        let corridor = corridors[$0 % corridors.count]
        index.visit(in: .corridor(corridor), by: corridor.distance) {
            for point in $0 { sum += point.distance.meters }
            return true
        }
    }
    measure("index: 10 nearest") { number in
        let center = circles[number % circles.count].center.coordinate
        var walk = index.nearest(by: GeoCircle(center).distance, atMost: 10)
        for _ in 0..<10 { sum += walk.next()?.distance.meters ?? 0 }
    }
    measure("index: count in a circle of 100") { number in
        sum += Double(index.count(in: .circle(circles[number % circles.count].circle)))
    }
    var changing = index
    var random = SplitMix64(seed: 3)
    func move() {
        let slot = random.below(dataset.count)
        let position = dataset.positions[slot].coordinate
        changing.set(
            Coordinate(latitude: position.latitude + 0.001, longitude: position.longitude * 0.999),
            for: Slot(slot))
    }
    measure("index: move a point, merges included", count: 20_000) { _ in move() }
    var snapshot = changing
    measure("index: the same, a snapshot after each 32", count: 20_000) { number in
        move()
        if number % 32 == 0 { snapshot = changing }
    }
    precondition(snapshot.count == dataset.count)
    precondition(sum.isFinite && changing.count == dataset.count)
}

/// Some queries of a workload on the dataset.
func queries(_ workload: Workload) -> [WorkloadQuery] {
    WorkloadQuery.make(for: workload, dataset: dataset, index: index, count: 500, seed: 2)
}
