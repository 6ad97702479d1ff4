package security

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/egress/proxy"
)

// TestRefusals checks that each refusal is printed once, and that their number is limited.
func TestRefusals(t *testing.T) {
	t.Parallel()
	var r refusals
	r.decided(proxy.Decision{Host: "ok.test", Port: 443, Allowed: true})
	r.decided(proxy.Decision{Why: "malformed"})
	for range 2 {
		r.decided(proxy.Decision{Host: "::1", Port: 443, Why: "no"})
	}
	for i := range maxRefusals {
		r.decided(proxy.Decision{Host: fmt.Sprintf("%d.test", i), Port: 443, Why: "no"})
	}
	var b strings.Builder
	r.print(&b)
	lines := strings.Split(b.String(), "\n")
	want := []string{"pawl: note: denied: malformed", "pawl: note: denied [::1]:443: no", "pawl: note: denied 0.test:443: no"}
	if diff := cmp.Diff(want, lines[:3]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"pawl: note: denied 2 more requests", ""}, lines[maxRefusals:]); diff != "" {
		t.Error(diff)
	}
}
