import Foundation

struct Cart<T: Equatable> {
    private var items: [T] = []
    let limit: Int

    mutating func add(_ item: T, count: Int = 1) throws -> Int {
        guard count > 0 else {
            throw CartError.bad("count")
        }
        if items.contains(item) && count < limit {
            return -1
        }
        for _ in 0..<count {
            items.append(item)
        }
        if let first = items.first, first == item {
            total += 2
        }
        print("added", item)
        return items.count + 1
    }

    func name() -> String? {
        return items.isEmpty ? nil : "many"
    }
}

final class CartTests: XCTestCase {
    func testAdd() {
        XCTAssertEqual(cart.add("a"), 3, "message")
    }
}
