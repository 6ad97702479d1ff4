package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// perMillion is the number of tokens that a price is for.
const perMillion = 1_000_000

// Price is a price per million tokens. In JSON it is a decimal number of dollars.
type Price pawl.Money

// Prices are the prices of a model.
type Prices struct {
	Input      Price `json:"input"`
	Output     Price `json:"output"` // including reasoning
	CacheRead  Price `json:"cache_read"`
	CacheWrite Price `json:"cache_write"`
}

// Cost returns the cost of a usage, rounded to a billionth of a dollar. It ignores the cost in the usage
// itself.
func Cost(m Model, u pawl.Usage) pawl.Money {
	// Add whole millions and the rest separately, so that nothing overflows before the cost itself would.
	var whole, rest int64
	for _, part := range []struct {
		tokens int64
		price  Price
	}{
		{u.Input, m.Prices.Input},
		{u.Output, m.Prices.Output},
		{u.CacheRead, m.Prices.CacheRead},
		{u.CacheWrite, m.Prices.CacheWrite},
	} {
		tokens := max(0, part.tokens) // a provider's mistake must not reduce the cost
		whole += tokens / perMillion * int64(part.price)
		rest += tokens % perMillion * int64(part.price)
	}
	return pawl.Money(whole + (rest+perMillion/2)/perMillion)
}

// String returns the exact price in dollars: "3.75".
func (p Price) String() string {
	whole, rest := p/1e9, p%1e9
	if rest == 0 {
		return strconv.FormatInt(int64(whole), 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", whole, rest), "0")
}

// MarshalJSON implements json.Marshaler.
func (p Price) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// maxPrice is far above any real price, and keeps Cost from overflowing.
const maxPrice = 1_000_000 // dollars

// UnmarshalJSON implements json.Unmarshaler. It rejects prices that cannot be represented exactly.
func (p *Price) UnmarshalJSON(text []byte) error {
	whole, rest, _ := strings.Cut(string(text), ".")
	dollars, err := strconv.ParseUint(whole, 10, 32)
	if err != nil || len(rest) > 9 || dollars > maxPrice {
		return fmt.Errorf("invalid price %s: use dollars per million tokens, such as 3.75", text)
	}
	billionths := uint64(0)
	if rest != "" {
		if billionths, err = strconv.ParseUint(rest+"000000000"[len(rest):], 10, 32); err != nil {
			return fmt.Errorf("invalid price %s: use dollars per million tokens, such as 3.75", text)
		}
	}
	*p = Price(dollars*1e9 + billionths)
	return nil
}
