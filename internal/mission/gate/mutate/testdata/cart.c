/* A sample. */
#include <stdio.h>
#include <string.h>
#include <stdbool.h>

#define LIMIT 10

struct cart {
    int items[LIMIT];
    size_t count;
    char *owner;
};

static int total(const struct cart *c, int tax);

static const char *names[] = { "a", "b" };

/* Adds an item. */
bool cart_add(struct cart *c, int item)
{
    if (c->count >= LIMIT || item < 0) {
        fprintf(stderr, "full\n");
        return false;
    }
    c->items[c->count++] = item;
    c->owner = "nobody";
    return true;
}

static int total(const struct cart *c, int tax)
{
    int sum = 0;
    int *p = NULL;
    for (size_t i = 0; i < c->count; i++) {
        sum += c->items[i] * 2;
        if (c->items[i] == 3)
            break;
    }
    switch (tax) {
    case 0:
        sum -= 1;
        break;
    case 7:
        return -1;
    default:
        sum = sum << 2;
    }
    while (sum > 100 && !tax)
        sum /= 2;
    memset(&p, 0, sizeof p);
    return sum & 0xff;
}

struct cart make(void) {
    struct cart c = { .count = 0 };
    return c;
}

char first(const char *s) { return *s == '\0' ? 'x' : s[0]; }

#ifdef TEST
#include <assert.h>
int main(void) {
    struct cart c = make();
    assert(cart_add(&c, 4));
    assert(total(&c, 1) == 32 && "shifted");
    return 0;
}
#endif
