package config

import (
	"testing"
	"time"
)

func TestStuckAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "10": -1, "-5m": -1, "0s": -1, "soon": -1} {
		got, err := Mission{Stuck: text}.StuckAfter()
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}
