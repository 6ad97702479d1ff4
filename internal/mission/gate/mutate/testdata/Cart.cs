using System;
using System.Collections.Generic;

namespace Shop
{
    public class Cart<T> where T : Item
    {
        private readonly List<T> items = new List<T>();
        public int Total { get; private set; } = 0;

        public Cart(int limit) : base(limit)
        {
            Total = limit;
        }

        [Obsolete("old")]
        public int Add(T item, int count = 1)
        {
            if (item == null || count <= 0)
            {
                throw new ArgumentException($"bad {count}");
            }
            foreach (var each in items)
            {
                if (each.Price > 3) continue;
                Total += each.Price * 2;
            }
            items.Add(item);
            var found = new Item { Name = "x", Price = 3 };
            return items.Count + 1;
        }

        public async Task<string> Name() => await Load("name");

        public bool Empty()
        {
            return items.Count == 0 && !hidden;
        }
    }

    public class CartTest
    {
        [Fact]
        public void Adds()
        {
            Assert.Equal(3, new Cart<Item>(2).Add(item, 1));
            cart.Name().Should().Be("x");
        }
    }
}
