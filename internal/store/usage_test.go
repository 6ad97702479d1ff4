package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestUsageOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300)
	evening := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	morning := time.Date(2026, 3, 2, 9, 0, 0, 0, time.FixedZone("east", 10*3600)) // still the first of March in UTC
	reply := func(id pawl.SessionID, at time.Time, model, agent string, input int64) pawl.Event {
		return pawl.Event{Session: id, At: at, Body: pawl.Replied{Model: model, Agent: agent, Usage: pawl.Usage{Input: input, CacheRead: 1, Cost: 2}}}
	}
	got := UsageOf([]pawl.Event{
		{Session: "a", At: evening, Body: pawl.SessionCreated{Parent: "p"}},
		reply("a", evening, "m", "build", 1),
		reply("a", evening.Add(time.Second), "m", "build", 2),
		reply("a", evening, "n", "build", 4),
		reply("a", morning, "m", "build", 8),
		reply("a", evening, "m", "explore", 16),
		reply("b", evening, "m", "build", 32),
		reply("b", evening, long, long+"x", 64),
		reply("b", evening, long, long, 128),
		{Session: "a", At: evening, Body: pawl.TurnFinished{Usage: pawl.Usage{Input: 1000}}}, // already counted
	})
	want := []pawl.UsageRow{
		{Session: "a", Day: "2026-03-01", Model: "m", Agent: "build", Replies: 2, Usage: pawl.Usage{Input: 9, CacheRead: 2, Cost: 4}},
		{Session: "a", Day: "2026-03-02", Model: "m", Agent: "build", Replies: 1, Usage: pawl.Usage{Input: 2, CacheRead: 1, Cost: 2}},
		{Session: "a", Day: "2026-03-01", Model: "n", Agent: "build", Replies: 1, Usage: pawl.Usage{Input: 4, CacheRead: 1, Cost: 2}},
		{Session: "a", Day: "2026-03-01", Model: "m", Agent: "explore", Replies: 1, Usage: pawl.Usage{Input: 16, CacheRead: 1, Cost: 2}},
		{Session: "b", Day: "2026-03-01", Model: "m", Agent: "build", Replies: 1, Usage: pawl.Usage{Input: 32, CacheRead: 1, Cost: 2}},
		{Session: "b", Day: "2026-03-01", Model: long[:500], Agent: long[:500], Replies: 2, Usage: pawl.Usage{Input: 192, CacheRead: 2, Cost: 4}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
