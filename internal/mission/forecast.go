package mission

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Forecast is what a mission is expected to cost and to take, computed from earlier ones with the same model. The range is
// from the cheapest to the most expensive of those, and likewise for the time.
type Forecast struct {
	Tasks    int           `json:"tasks"`
	Missions int           `json:"missions"` // earlier missions that it was made from
	Cost     pawl.Money    `json:"cost"`
	CostMin  pawl.Money    `json:"cost_min"`
	CostMax  pawl.Money    `json:"cost_max"`
	Time     time.Duration `json:"time"`
	TimeMin  time.Duration `json:"time_min"`
	TimeMax  time.Duration `json:"time_max"`

	Actual *Actual `json:"actual,omitempty"` // of a sealed mission
}

// Actual is what a mission cost and took, and by how much the forecast was wrong: 0.5 means half more than expected.
type Actual struct {
	Cost      pawl.Money    `json:"cost"`
	CostError float64       `json:"cost_error"`
	Time      time.Duration `json:"time"`
	TimeError float64       `json:"time_error"`
}

// NewForecast returns a forecast for a mission with a plan, or nil if no earlier mission can be compared with it: one that
// was sealed before this one began, with the same model.
func NewForecast(b pawl.Board, earlier []pawl.Board) *Forecast {
	f := &Forecast{}
	for _, t := range b.Mission.Tasks {
		if t.Phase != pawl.PhaseDropped {
			f.Tasks++
		}
	}
	var costs, times []float64 // for one task, with the work of planners and reviewers
	for _, e := range earlier {
		n := len(e.Mission.In(pawl.PhaseMerged))
		if e.State != pawl.MissionSealed || n == 0 || e.Session.Model != b.Session.Model || !e.Session.Updated.Before(b.Mission.Began) {
			continue
		}
		costs = append(costs, float64(e.Usage.Cost)/float64(n))
		times = append(times, float64(e.Session.Updated.Sub(e.Mission.Began))/float64(n))
	}
	if f.Missions = len(costs); f.Missions == 0 || f.Tasks == 0 {
		return nil
	}
	low, middle, high := spread(costs, f.Tasks)
	f.CostMin, f.Cost, f.CostMax = pawl.Money(low), pawl.Money(middle), pawl.Money(high)
	low, middle, high = spread(times, f.Tasks)
	f.TimeMin, f.Time, f.TimeMax = time.Duration(low), time.Duration(middle), time.Duration(high)
	if b.State == pawl.MissionSealed {
		f.compare(b)
	}
	return f
}

// spread returns the least, the median and the greatest value, for n tasks.
func spread(values []float64, n int) (low, middle, high float64) {
	slices.Sort(values)
	k := len(values)
	middle = (values[(k-1)/2] + values[k/2]) / 2
	return values[0] * float64(n), middle * float64(n), values[k-1] * float64(n)
}

// compare adds what a sealed mission cost and took.
func (f *Forecast) compare(b pawl.Board) {
	a := Actual{Cost: b.Usage.Cost, Time: b.Session.Updated.Sub(b.Mission.Began)}
	if f.Cost > 0 {
		a.CostError = float64(a.Cost)/float64(f.Cost) - 1
	}
	if f.Time > 0 {
		a.TimeError = float64(a.Time)/float64(f.Time) - 1
	}
	f.Actual = &a
}

// String returns the forecast as a line; nil means no forecast.
func (f *Forecast) String() string {
	if f == nil {
		return "No forecast: no earlier mission with this model was sealed."
	}
	text := fmt.Sprintf("Forecast: %s (%s to %s), %s (%s to %s), from %s with this model", humanize.Dollars(f.Cost), humanize.Dollars(f.CostMin), humanize.Dollars(f.CostMax),
		humanize.Clock(f.Time), humanize.Clock(f.TimeMin), humanize.Clock(f.TimeMax), humanize.Plural(f.Missions, "earlier mission"))
	if a := f.Actual; a != nil {
		text += fmt.Sprintf(". Actual: %s (%s), %s (%s)", humanize.Dollars(a.Cost), percent(a.CostError), humanize.Clock(a.Time), percent(a.TimeError))
	}
	return text + "."
}

func percent(share float64) string { return fmt.Sprintf("%+.0f %%", math.Round(share*100)) }
