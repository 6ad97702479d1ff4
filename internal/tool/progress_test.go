package tool

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shown is a piece and when it came.
type shown struct {
	At   time.Duration
	Text string
}

func watch() (*progress, func() []shown) {
	began := time.Now()
	var pieces []shown
	p := &progress{show: func(text string) { pieces = append(pieces, shown{time.Since(began), text}) }}
	return p, func() []shown {
		synctest.Wait()
		return pieces
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, pieces := watch()
		for _, text := range []string{"at once", " one", " two"} {
			p.add([]byte(text))
		}
		time.Sleep(progressEvery)
		synctest.Wait()
		time.Sleep(10 * time.Second)
		p.add([]byte("later, \xe6"))
		p.add([]byte("\x97"))
		p.add([]byte("\xa5 whole"))
		p.stop()
		p.add([]byte("never"))
		p.stop()
		time.Sleep(time.Second)
		after := 10*time.Second + progressEvery
		want := []shown{{0, "at once"}, {progressEvery, " one two"}, {after, "later, "}, {after, "日 whole"}}
		if diff := cmp.Diff(want, pieces()); diff != "" {
			t.Error(diff)
		}
	})
}

// A line without an end is shown while it grows.
func TestProgressNeedsNoNewline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, pieces := watch()
		for range 3 {
			p.add([]byte("."))
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff([]shown{{0, "."}, {time.Second, "."}, {2 * time.Second, "."}}, pieces()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProgressIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, pieces := watch()
		line := []byte(strings.Repeat("日本語", 100) + "\n")
		total := 0
		for range 1000 { // for one second
			for range 20 {
				p.add(line[:100]) // cuts a rune
				p.add(line[100:])
				total += len(line)
			}
			p.add(line[:100])
			time.Sleep(time.Millisecond)
			p.add(line[100:])
			total += len(line)
		}
		p.stop()
		got := pieces()
		if len(got) > 22 || len(got) < 18 {
			t.Errorf("%d pieces in a second", len(got))
		}
		sum := 0
		for _, piece := range got {
			text := piece.Text
			var skipped int
			if n, _ := fmt.Sscanf(text, "\n… %d bytes …\n", &skipped); n == 1 {
				_, text, _ = strings.Cut(text, " bytes …\n")
			}
			sum += skipped + len(text)
			if len(text) > progressBytes || !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
				t.Errorf("a piece of %d bytes: %.20q", len(text), text)
			}
		}
		if sum != total {
			t.Errorf("the pieces tell of %d bytes, %d were printed", sum, total)
		}
	})
}
