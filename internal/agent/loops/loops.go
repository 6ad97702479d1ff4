// Package loops notices when a turn goes round in circles: the same call with
// the same result again and again, a cycle of a few steps, a reply that repeats
// itself. It decides nothing but that; it reads no clock and does no I/O.
package loops

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/weak"
)

// How often something may repeat. A result that differs, or another call, is
// progress, and the count begins anew.
const (
	sameTimes  = 3  // a step, in a row
	cycleTimes = 5  // a cycle of 2 steps or more
	pollTimes  = 10 // either, if it looks after a job: to wait is no loop
	longest    = 4  // steps of a cycle
)

// polls are the tools that are called again to see whether something has come.
var polls = []string{"bash_output"}

// Kind says what was found.
type Kind string

// The kinds. None is the zero value: nothing was found.
const (
	None   Kind = ""
	Same   Kind = "same"   // a step repeats: the same calls, the same results
	Cycle  Kind = "cycle"  // a few steps repeat, in the same order
	Babble Kind = "babble" // the reply's text repeats itself
)

// Severity says what is to be done.
type Severity int

// The severities. What is found first in a turn is worth a word to the model;
// whatever is found after that shows that words do not help.
const (
	Fine Severity = iota
	Word          // tell the model; see [Verdict.Text]
	Stop          // ask a person whether to go on, or end the turn
)

// Verdict is what was found at a step. The zero value is nothing.
type Verdict struct {
	Kind     Kind
	Severity Severity
	Step     int
	Tool     string // of the first call of the step
	Length   int    // steps that repeat, from 1
	Times    int    // how often they came
}

// Text is the word to the model.
func (v Verdict) Text() string {
	const then = " Repeating it will change nothing. Try another way or, if there is none, say what stands in the way and stop."
	switch v.Kind {
	case Same:
		return fmt.Sprintf("You have made the same call (%.60s) %d times in a row, and each time it had the same result.", v.Tool, v.Times) + then
	case Cycle:
		return fmt.Sprintf("You have gone through the same %d steps %d times, and each time they had the same results.", v.Length, v.Times) + then
	case Babble:
		return "Your last reply repeats itself over and over. Say it once, briefly, and go on."
	default:
		return ""
	}
}

// Report is the word to a person.
func (v Verdict) Report() string {
	switch v.Kind {
	case Same:
		return fmt.Sprintf("the model repeats itself: the same call (%.60s) %d times in a row, each time with the same result", v.Tool, v.Times)
	case Cycle:
		return fmt.Sprintf("the model repeats itself: the same %d steps %d times, each time with the same results", v.Length, v.Times)
	case Babble:
		return "the model repeats itself: its last reply says the same over and over"
	default:
		return ""
	}
}

// Detector looks at the steps of a session's turns. It is a fold: the same log
// always leads to the same verdicts. What it remembers is a few numbers. The
// zero value is ready.
type Detector struct {
	found   int // in this turn
	verdict Verdict

	last [longest]mark    // the newest steps, the newest first
	runs [longest + 1]int // runs[n]: how many steps in a row equal the one n before

	open []openCall // of the step whose results come
	step int        // that step

	asked pawl.Seq // a person is asked whether to go on; 0 if not
}

// mark is what is remembered of a step.
type mark struct {
	hash  uint64
	polls bool
}

// openCall is a call while its result is awaited.
type openCall struct {
	id   pawl.CallID
	name string
	hash uint64 // of the call, and once it is done of its result too
	done bool
}

// Verdict is what was found at the newest step, until the next one begins.
func (d *Detector) Verdict() Verdict { return d.verdict }

// Apply takes in the next event of the log and returns what it shows.
func (d *Detector) Apply(e pawl.Event) Verdict {
	switch b := e.Body.(type) {
	case pawl.TurnStarted, pawl.TurnFinished:
		*d = Detector{}
	case pawl.Injected:
		if b.Prompt != 0 { // a person is there, and has said what to do
			*d = Detector{}
		}
	case pawl.Asked:
		if b.Kind == pawl.AskLoop {
			d.asked = e.Seq
		}
	case pawl.Answered:
		if b.Ask == d.asked && b.Outcome == pawl.OutcomeAnswered { // a person wants it to go on
			*d = Detector{}
		}
	case pawl.ReplyStarted:
		d.verdict = Verdict{}
	case pawl.Replied:
		d.begin(b.Step, b.Parts.Calls())
		return d.Reply(b.Step, b.Parts.Text())
	case pawl.CallFinished:
		return d.finish(b.Call, b.Result)
	default: // is no step of a turn
	}
	return Verdict{}
}

// Reply looks at the text of a step's reply.
func (d *Detector) Reply(step int, text string) Verdict {
	if !babbles(text) {
		return Verdict{}
	}
	return d.find(Verdict{Kind: Babble, Step: step, Length: 1, Times: 1})
}

// Note looks at a step's calls and their results: results[i] is that of calls[i].
// The steps are those of one turn, in order, each once.
func (d *Detector) Note(step int, calls []pawl.ToolCall, results []pawl.Result) Verdict {
	d.begin(step, calls)
	var v Verdict
	for i, r := range results {
		v = d.finish(calls[i].ID, r)
	}
	return v
}

func (d *Detector) begin(step int, calls []pawl.ToolCall) {
	if d.verdict.Step != step {
		d.verdict = Verdict{}
	}
	d.step, d.open = step, make([]openCall, len(calls))
	for i, c := range calls {
		d.open[i] = openCall{id: c.ID, name: c.Name, hash: hashCall(c)}
	}
}

// finish takes in a result. With the step's last one the step is complete.
func (d *Detector) finish(id pawl.CallID, r pawl.Result) Verdict {
	i := slices.IndexFunc(d.open, func(c openCall) bool { return c.id == id && !c.done })
	if i < 0 {
		return Verdict{}
	}
	d.open[i].hash, d.open[i].done = hashResult(d.open[i].hash, r), true
	if slices.ContainsFunc(d.open, func(c openCall) bool { return !c.done }) {
		return Verdict{}
	}
	return d.complete()
}

// complete takes in a step. The order of its calls does not count, nor does it
// if a call is in it twice: they may have run beside each other.
func (d *Detector) complete() Verdict {
	hashes := make([]uint64, len(d.open))
	m := mark{hash: seed}
	for i, c := range d.open {
		hashes[i] = c.hash
		m.polls = m.polls || slices.Contains(polls, c.name)
	}
	slices.Sort(hashes)
	for _, h := range slices.Compact(hashes) {
		m.hash = mix(m.hash, h)
	}
	tool := d.open[0].name
	d.open = nil

	for n := 1; n <= longest; n++ {
		if d.last[n-1] == m {
			d.runs[n]++
		} else {
			d.runs[n] = 0
		}
	}
	copy(d.last[1:], d.last[:])
	d.last[0] = m
	for n := 1; n <= longest; n++ {
		if times := d.bound(n); d.runs[n] >= n*(times-1) {
			d.last, d.runs = [longest]mark{}, [longest + 1]int{} // counts anew
			v := Verdict{Kind: Cycle, Step: d.step, Tool: tool, Length: n, Times: times}
			if n == 1 {
				v.Kind = Same
			}
			return d.find(v)
		}
	}
	return Verdict{}
}

// bound returns how often the newest n steps may come.
func (d *Detector) bound(n int) int {
	switch {
	case slices.ContainsFunc(d.last[:n], func(m mark) bool { return m.polls }):
		return pollTimes
	case n == 1:
		return sameTimes
	default:
		return cycleTimes
	}
}

// find says how grave it is. A step is found fault with once.
func (d *Detector) find(v Verdict) Verdict {
	if weak.On("agent.loops") || d.verdict.Kind != None && d.verdict.Step == v.Step {
		return Verdict{}
	}
	d.found++
	v.Severity = Word
	if d.found > 1 {
		v.Severity = Stop
	}
	d.verdict = v
	return v
}
