//go:build e2e || bench

package tui

import (
	"encoding/json"
	"strings"
	"testing"
)

const cartGo = `package cart

// Item is something that is sold.
type Item struct {
	Name  string
	Cents int
	Count int
}

// Total is what the items cost together.
func Total(items []Item) int {
	sum := 0
	for _, i := range items {
		sum += i.Cents
	}
	return sum
}
`

// newShop is a world whose project is a small shop.
func newShop(t *testing.T, script ...string) *Env {
	t.Helper()
	w := NewEnv(t, script...)
	w.Write("README.md", "# Shop\n\nSells things.\n")
	w.Write("cart/cart.go", cartGo)
	w.Write("cart/price.go", "package cart\n")
	w.Write("web/page.html", "<h1>Shop</h1>\n")
	return w
}

// reply is a line of a script.
type reply struct {
	Text      string         `json:"text,omitempty"`
	Reasoning string         `json:"reasoning,omitempty"`
	Calls     []call         `json:"calls,omitempty"`
	Usage     map[string]int `json:"usage,omitempty"`
	Deltas    int            `json:"deltas,omitempty"`
	DelayMS   int            `json:"delay_ms,omitempty"`
	Fault     string         `json:"fault,omitempty"`
	Times     int            `json:"times,omitempty"`
	Expect    string         `json:"expect,omitempty"`
	Agent     string         `json:"agent,omitempty"`
}

type call struct {
	Name  string `json:"name"`
	Input any    `json:"input"`
}

type object = map[string]any

func bash(command string) call {
	return call{"bash", object{"command": command}}
}

// script writes replies as lines.
func script(t testing.TB, replies ...reply) []string {
	t.Helper()
	var lines []string
	for _, r := range replies {
		if r.Usage == nil && r.Fault == "" && r.Agent == "" {
			r.Usage = map[string]int{"input": 2400, "output": 120, "cache_read": 9100}
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(data))
	}
	return lines
}

// The replies of a turn that looks, changes, tests and summarizes.
var (
	looks = reply{
		Reasoning: "The total ignores Count. I should look at the file before I change it.\nThen a test.",
		Text:      "I look at the cart first.",
		Calls:     []call{{"read", object{"path": "cart/cart.go"}}, {"grep", object{"pattern": "Total"}}},
	}
	changes = reply{
		Text:  "`Total` ignores how many of an item there are.",
		Calls: []call{{"edit", object{"path": "cart/cart.go", "old": "\t\tsum += i.Cents\n", "new": "\t\tsum += i.Cents * i.Count\n"}}},
	}
	tests  = reply{Calls: []call{bash("echo 'ok  shop/cart'; echo 3 tests"), bash("echo 'cart.go:12: no such thing' >&2; exit 1")}}
	sumsUp = reply{Text: strings.ReplaceAll(`## What was wrong

The total of a cart took each item **once**. It now takes ¬Count¬ into account:

1. ¬cart/cart.go¬ multiplies by the count;
2. the tests pass.

| items | before | now |
|---|---|---|
| 2 x 300 | 300 | 600 |
| none | 0 | 0 |

¬¬¬go
func Total(items []Item) int // in cents
¬¬¬
`, "¬", "`")}
)
