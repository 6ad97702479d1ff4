package sample;

import static org.junit.Assert.*;

class CartTest {
    @Test
    void adds() {
        Cart<String> cart = new Cart<>(1);
        assertEquals(3, cart.add("a", 2));
        assertEquals("wrong", 4, cart.add("b", 2));
        assertTrue("not empty", cart.name().equals("cart-9"));
        assertNotEquals(5, cart.total);
        assertThat(cart.name()).isEqualTo("cart-1");
    }
}
