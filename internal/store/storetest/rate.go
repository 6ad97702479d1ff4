package storetest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Parameters of CompareRate.
const (
	rateRounds = 60
	rateBatch  = 20
	rateTries  = 3
	rateFloor  = 0.60 // fraction of the bare rate
)

// Sample is an event of typical size.
var Sample = pawl.Event{Turn: 1, At: time.Unix(1_700_000_000, 0), Body: pawl.CallStarted{
	Call: "call_0123456789", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "go test ./..."}},
}}

// CompareRate compares the rate of Append for one event with bare, which only inserts
// the given row into a table of the same schema, in its own transaction. The two
// alternate, so that noise affects both equally. It logs whether Append reaches 60 %
// of the bare rate in one of three tries.
func CompareRate(t *testing.T, s store.Store, bare func(seq int, kind pawl.Kind, version int, body []byte) error) {
	id := NewID()
	if _, err := s.Append(t.Context(), id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
		t.Fatal(err)
	}
	kind, version, body, err := Sample.EncodeBody()
	if err != nil {
		t.Fatal(err)
	}
	appendOne := func(n int) error {
		_, err := s.Append(t.Context(), id, pawl.Seq(n), Sample)
		return err
	}
	insertOne := func(n int) error { return bare(n, kind, version, body) }

	n := 1
	for range rateTries {
		var appends, inserts []time.Duration
		for range rateRounds {
			appends = append(appends, timed(t, n, appendOne))
			inserts = append(inserts, timed(t, n, insertOne))
			n += rateBatch
		}
		a, b := middle(appends), middle(inserts)
		ratio := float64(b) / float64(a)
		t.Logf("append %.0f a second, bare insert %.0f a second: %.2f of the bare rate   (at least %.2f)",
			rateBatch/a.Seconds(), rateBatch/b.Seconds(), ratio, rateFloor)
		if ratio >= rateFloor {
			return
		}
	}
	t.Logf("over the goal: Append does not reach %.2f of the rate of a bare insert", rateFloor)
}

// Compare logs how often each function can be called per second. They alternate.
func Compare(t *testing.T, calls map[string]func(n int) error) {
	took := map[string][]time.Duration{}
	for round := range rateRounds * rateTries {
		for name, call := range calls {
			took[name] = append(took[name], timed(t, round*rateBatch, call))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(took)) {
		t.Logf("%s: %.0f a second", name, rateBatch/middle(took[name]).Seconds())
	}
}

// timed returns the duration of a batch of calls, the first of them with n.
func timed(t *testing.T, n int, f func(n int) error) time.Duration {
	t.Helper()
	began := time.Now()
	for i := range rateBatch {
		if err := f(n + i); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began)
}

func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
