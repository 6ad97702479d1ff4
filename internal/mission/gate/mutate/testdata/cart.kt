package shop

import java.util.UUID

data class Item(val name: String, val price: Int = 3)

class Cart<T : Item>(private val limit: Int) {
    private val items = mutableListOf<T>()
    var total: Int = 0

    fun add(item: T, count: Int): Int {
        require(count > 0) { "bad count" }
        if (item.price < 1 || count > limit) {
            return -1
        }
        repeat(count) {
            items.add(item)
        }
        for (each in items) {
            if (each == item) continue
            total += each.price * 2
        }
        val kind = when (count) {
            1 -> "one"
            else -> "many"
        }
        items.filter { it.price >= 2 && !it.name.isEmpty() }.forEach { x ->
            total -= x.price
        }
        return total + kind.length
    }

    fun name(): String? = items.firstOrNull()?.name ?: "none"

    fun empty(): Boolean {
        return items.size == 0
    }
}

class CartTest {
    @Test
    fun adds() {
        assertEquals(3, Cart<Item>(2).add(Item("a"), 1))
        cart.name() shouldBe "a"
    }
}
