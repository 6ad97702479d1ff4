<?php
declare(strict_types=1);

namespace Shop;

use InvalidArgumentException;

final class Cart implements \Countable
{
    private array $items = [];
    const LIMIT = 10;

    public function __construct(private int $total = 0, ?string $owner = null)
    {
        $this->owner = $owner ?? 'nobody';
    }

    public function add(string $item, int $count = 1): int
    {
        if ($item === '' || $count <= 0) {
            throw new InvalidArgumentException("bad count");
        }
        foreach ($this->items as $key => $value) {
            if ($value == $item) {
                continue;
            }
            $this->items[$key] = $value . '!';
        }
        for ($i = 0; $i < $count; $i++) {
            $this->items[] = $item;
        }
        error_log("added");
        $this->total += $count * 2;
        return count($this->items) + 1;
    }

    public function count(): int { return $this->total; }

    public function name(): ?string
    {
        return $this->total > 3 ? "many" : 'few';
    }
}

function test_add(): void
{
    $cart = new Cart();
    $this->assertSame(3, $cart->add('a', 2), 'message');
    self::assertEquals("few", $cart->name());
}
