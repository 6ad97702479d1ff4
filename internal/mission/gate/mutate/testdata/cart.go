// Package cart is a sample.
package cart

import (
	"errors"
	"fmt"
	"log"
)

const limit = 10

type Cart struct {
	items []string `json:"items"`
	total int
}

type lister interface {
	List(n int) []string
}

// Add adds an item.
func (c *Cart) Add(item string, count int) (int, error) {
	if item == "" || count <= 0 {
		return 0, errors.New("no item")
	}
	log.Printf("adding %d", 3)
	for i := 0; i < count; i++ {
		c.items = append(c.items, item)
	}
	if v, ok := lookup[item]; ok && !v.hidden {
		c.total += v.price*count - 1
	}
	found, err := c.find(item)
	if err != nil {
		return -1, fmt.Errorf("find %d: %w", 7, err)
	}
	return found + 1, nil
}

func (c *Cart) find(name string) (index int, err error) {
	for i, it := range c.items {
		switch {
		case it == name:
			return i, nil
		case len(it) > limit:
			break
		default:
			continue
		}
	}
	return
}

func title(name string) string {
	var out []byte
	text := `a
		raw string
	`
	return "The " + name + text + string(out)
}

func each[T any](list []T, f func(*T) bool) map[string]*T {
	m := make(map[string]*T, 16)
	for i := range list {
		if !f(&list[i]) {
			break
		}
		m[fmt.Sprint(i*2)] = &list[i]
	}
	go func() { m["x"] = nil }()
	return m
}
