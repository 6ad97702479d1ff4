package pawl

// Money is an amount in billionths of a US dollar, so that sums stay exact.
type Money int64

// Dollars returns the amount for display.
func (m Money) Dollars() float64 { return float64(m) / 1e9 }

// Usage is what a model call consumed, by the provider's own count.
// The zero value is no usage.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read at the full price
	Output     int64 `json:"output,omitempty"`      // tokens written, reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // the part of Output that was reasoning
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens written to the provider's cache
	Cost       Money `json:"cost,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Cost:       u.Cost + v.Cost,
	}
}
