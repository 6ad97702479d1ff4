package experiment

import (
	"context"
	"slices"
	"time"
)

// Progress is what the experiments do at a moment.
type Progress struct {
	Stage        string    // what the runs are for
	Step, Steps  int       // number of the stage, from 1, and of all stages
	Tried, Total int       // mutants; Total is 0 in a stage without mutants
	Until        time.Time // when the time for mutants is over; zero in a stage without mutants
	Running      []string  // the runs, e.g. "go-test on mutant a.go"
}

// stage is a group of experiments.
type stage struct {
	name string
	do   func(context.Context) error
}

func (x *experiments) stages() []stage {
	return []stage{
		{"checks on the base", x.runBase},
		{"checks on the change", x.runHead},
		{"base tests on the new code", x.oldTests},
		{"controls", x.controls},
		{"files left out", x.leaveOut},
		{"new tests on the old code", x.newTests},
		{"strength of the tests", x.strength},
		{"mutants", x.mutants},
	}
}

// report updates the progress and passes a copy of it on.
func (x *experiments) report(update func(p *Progress)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	update(&x.progress)
	if x.OnProgress != nil {
		p := x.progress
		p.Running = slices.Clone(p.Running)
		x.OnProgress(p)
	}
}

// started records that a run starts. The caller calls ended at its end.
func (x *experiments) started(run string) (ended func()) {
	x.report(func(p *Progress) { p.Running = append(p.Running, run) })
	return func() {
		x.report(func(p *Progress) {
			if i := slices.Index(p.Running, run); i >= 0 {
				p.Running = slices.Delete(p.Running, i, i+1)
			}
		})
	}
}

// tries starts counting mutants, for which there is time until the returned moment.
func (x *experiments) tries(total int) (until time.Time) {
	until = time.Now().Add(x.Budget)
	x.report(func(p *Progress) { p.Tried, p.Total, p.Until = 0, total, until })
	return until
}

func (x *experiments) tried() { x.report(func(p *Progress) { p.Tried++ }) }
