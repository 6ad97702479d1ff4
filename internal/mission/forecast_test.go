package mission

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestForecast checks the forecast of a mission with three tasks.
func TestForecast(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	const dollar = pawl.Money(1_000_000_000)
	past := func(state pawl.MissionState, model string, cost pawl.Money, took time.Duration, ago time.Duration, tasks int) pawl.Board {
		ended := began.Add(-ago)
		b := pawl.Board{State: state, Session: pawl.Session{Model: model, Updated: ended}, Mission: pawl.Mission{Began: ended.Add(-took)}, Usage: pawl.Usage{Cost: cost}}
		for range tasks {
			b.Mission.Tasks = append(b.Mission.Tasks, pawl.TaskState{Phase: pawl.PhaseMerged})
		}
		return b
	}
	now := pawl.Board{State: pawl.MissionPlanned, Session: pawl.Session{Model: "m"}, Mission: pawl.Mission{Began: began, Tasks: []pawl.TaskState{{}, {}, {}, {Phase: pawl.PhaseDropped}}}}
	others := []pawl.Board{
		past(pawl.MissionSealed, "other", 90*dollar, time.Hour, time.Hour, 1),
		past(pawl.MissionBlocked, "m", 90*dollar, time.Hour, time.Hour, 1),
		past(pawl.MissionSealed, "m", 90*dollar, time.Hour, -time.Hour, 1), // later
		past(pawl.MissionSealed, "m", 90*dollar, time.Hour, time.Hour, 0),
	}
	if f := NewForecast(now, others); f != nil || f.String() != "No forecast: no earlier mission with this model was sealed." {
		t.Errorf("without missions to compare with: %+v, %s", f, f)
	}
	f := NewForecast(now, append(others,
		past(pawl.MissionSealed, "m", 4*dollar, 20*time.Minute, time.Hour, 2),
		past(pawl.MissionSealed, "m", 1*dollar, 5*time.Minute, 2*time.Hour, 1),
		past(pawl.MissionSealed, "m", 12*dollar, 12*time.Minute, 3*time.Hour, 4)))
	want := &Forecast{Tasks: 3, Missions: 3, Cost: 6 * dollar, CostMin: 3 * dollar, CostMax: 9 * dollar, Time: 15 * time.Minute, TimeMin: 9 * time.Minute, TimeMax: 30 * time.Minute}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}

	now.State, now.Usage.Cost, now.Session.Updated = pawl.MissionSealed, 9*dollar, began.Add(12*time.Minute)
	f = NewForecast(now, []pawl.Board{past(pawl.MissionSealed, "m", 4*dollar, 20*time.Minute, time.Hour, 2)})
	if got, want := f.String(), "Forecast: $6.00 ($6.00 to $6.00), 30m 00s (30m 00s to 30m 00s), from 1 earlier mission with this model. Actual: $9.00 (+50 %), 12m 00s (-60 %)."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
