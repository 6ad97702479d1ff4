package sample;

import java.util.*;

/** A sample. */
public class Cart<T extends Comparable<T>> {
    private static final int LIMIT = 10;
    private final List<T> items = new ArrayList<>();
    private Map<String, List<Integer>> prices;
    protected int total;

    enum Kind { SMALL, LARGE }

    @SuppressWarnings("unchecked")
    public Cart(int total) {
        super();
        this.total = total;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Cart)) {
            return false;
        }
        Cart<T> o = (Cart<T>) other;
        return o.total == total && items.size() < LIMIT;
    }

    public int add(T item, int count) throws IllegalArgumentException {
        if (item == null || count <= 0) {
            throw new IllegalArgumentException("bad count " + 3);
        }
        for (int i = 0; i < count; i++) {
            items.add(item);
        }
        int sum;
        if (count > 5) {
            sum = count * 2 + 1;
        } else {
            sum = 1;
        }
        for (T each : items) {
            if (each.compareTo(item) > 0) continue;
            total += sum;
            this.total--;
        }
        Runnable r = () -> {
            total = 3;
        };
        r.run();
        System.err.println("added " + count);
        switch (count) {
            case 1:
                total = 7;
                break;
            default:
                total %= 2;
        }
        String text = switch (count) {
            case 1 -> "one";
            default -> {
                yield "many";
            }
        };
        return text.length() + sum - 1;
    }

    public String name() {
        return "cart-" + total;
    }

    private List<T> copy() {
        return new ArrayList<>(items);
    }

    char letter(int n) {
        return n > 3 && (n & 1) == 0 ? 'a' : 'b';
    }
}
