package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Sizes of MeasureSearch.
const (
	searchedSessions = 2000
	searchedMessages = 100
	searchRounds     = 9
)

// MeasureSearch logs the time of searches in many sessions, and the time of an append with
// and without the index: a reply of the same size with text or with reasoning, which is
// not indexed.
func MeasureSearch(t *testing.T, s store.Store) {
	words := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	for i := range searchedSessions {
		events := []pawl.Event{event(pawl.SessionCreated{Dir: "/w"})}
		for n := range searchedMessages {
			text := prose(words)
			if n == 50 && i%500 == 0 {
				text += " needle in a haystack"
			}
			if n%10 == 0 {
				events = append(events, event(said(text)))
			} else {
				events = append(events, event(wrote(text)))
			}
		}
		appended(t, s, NewID(), 0, events...)
	}
	t.Logf("%d sessions of %d messages written in %v", searchedSessions, searchedMessages, time.Since(began).Round(time.Millisecond))
	for _, query := range []string{"needle ", "needle haystack", `"needle in a haystack"`, "need", "word17 word4711 word99 ", "word4711 ", "word1 "} {
		var took []time.Duration
		found := 0
		for range searchRounds {
			began := time.Now()
			page, err := s.Sessions(t.Context(), pawl.Filter{Search: query, Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			took, found = append(took, time.Since(began)), len(page.Sessions)
		}
		slices.Sort(took)
		t.Logf("search %-28q %8v (%d on the page)", query, took[len(took)/2].Round(10*time.Microsecond), found)
	}

	with, without := create(t, s).Session, create(t, s).Session
	text := prose(words)
	append1 := func(id pawl.SessionID, part pawl.Part) func(n int) error {
		return func(n int) error {
			_, err := s.Append(t.Context(), id, pawl.Seq(n+1), event(pawl.Replied{Parts: pawl.Parts{part}}))
			return err
		}
	}
	Compare(t, map[string]func(n int) error{
		"append with index":    append1(with, pawl.Text{Text: text}),
		"append without index": append1(without, pawl.Reasoning{Text: text}),
	})
}

// prose returns about 600 bytes of words, few of which are frequent.
func prose(r *rand.Rand) string {
	var b strings.Builder
	for range 80 {
		fmt.Fprintf(&b, "word%d ", int(r.ExpFloat64()*r.ExpFloat64()*500))
	}
	return b.String()
}
