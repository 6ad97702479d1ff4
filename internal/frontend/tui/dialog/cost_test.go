package dialog

import (
	"strings"
	"testing"
)

// BenchmarkLargest opens the largest diff that a person can be asked about, and
// BenchmarkScroll draws it again.
func BenchmarkLargest(b *testing.B) {
	s := shared(b, "dark", nil)
	for b.Loop() {
		d, _ := at(b, s, change(1<<20/20), 1)
		d.View(120, 40)
	}
}

// BenchmarkLongInput opens one with as many lines that are no diff.
func BenchmarkLongInput(b *testing.B) {
	s := shared(b, "dark", nil)
	text := "Edit this file?\nInput\n" + strings.Repeat("  |   a line of it\n", 1<<20/20)
	for b.Loop() {
		d, _ := at(b, s, permissionAsk(text), 1)
		d.View(120, 40)
	}
}

func BenchmarkScroll(b *testing.B) {
	d, _ := at(b, shared(b, "dark", nil), change(1<<20/20), 1)
	settle(d)
	d.View(120, 40)
	for b.Loop() {
		d.Update(key("pgdown"))
		d.View(120, 40)
	}
}
