// Package loops detects repetition in a turn: the same call with the same result again and
// again, a cycle of a few steps, a reply that repeats itself. It only detects; it reads no
// clock and does no I/O.
package loops

import (
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
)

// How often something must repeat to be detected. A different result or another call is
// progress, and resets the count.
const (
	sameTimes  = 3  // a step
	cycleTimes = 5  // a cycle of two steps or more
	pollTimes  = 10 // either, if it polls a job: waiting is not a loop
	longest    = 4  // the most steps of a cycle
)

// polls are the tools that are called repeatedly to wait for something.
var polls = []string{"bash_output"}

// Kind is what was found.
type Kind string

// The kinds. None is the zero value: nothing was found.
const (
	None       Kind = ""
	Same       Kind = "same"       // a step repeats: the same calls, the same results
	Cycle      Kind = "cycle"      // a few steps repeat, in the same order
	Repetition Kind = "repetition" // the reply's text repeats itself
)

// Severity says how to react.
type Severity int

// The severities. The first finding of a turn is a warning to the model; any further one shows
// that warnings do not help.
const (
	Fine Severity = iota
	Warn          // warn the model; see [Verdict.Text]
	Stop          // ask the user whether to go on, or end the turn
)

// Verdict is what was found at a step. The zero value means nothing.
type Verdict struct {
	Kind     Kind
	Severity Severity
	Step     int
	Tool     string // of the first call of the step
	Length   int    // the number of steps that repeat, at least 1
	Times    int    // how often they occurred
}

// Text returns the warning for the model.
func (v Verdict) Text() string {
	const then = " Repeating it will change nothing. Try another approach or, if none is left, say what blocks you and stop."
	switch v.Kind {
	case Same:
		return fmt.Sprintf("You have made the same call (%.60s) %d times in a row, and each time it had the same result.", v.Tool, v.Times) + then
	case Cycle:
		return fmt.Sprintf("You have repeated the same %d steps %d times, each time with the same results.", v.Length, v.Times) + then
	case Repetition:
		return "Your last reply repeats itself over and over. Say it once, briefly, and continue."
	default:
		return ""
	}
}

// Report returns the message for the user.
func (v Verdict) Report() string {
	switch v.Kind {
	case Same:
		return fmt.Sprintf("the model is repeating itself: the same call (%.60s) %d times in a row, each time with the same result", v.Tool, v.Times)
	case Cycle:
		return fmt.Sprintf("the model is repeating itself: the same %d steps %d times, each time with the same results", v.Length, v.Times)
	case Repetition:
		return "the model is repeating itself: its last reply says the same thing over and over"
	default:
		return ""
	}
}

// Detector detects repetition in the turns of a session. It is a fold: the same log always gives the
// same verdicts. Its size is constant. The zero value is ready to use.
type Detector struct {
	found   int // findings in this turn
	verdict Verdict

	last [longest]mark    // the newest steps, the newest first
	runs [longest + 1]int // runs[n] counts the latest steps that each equal the one n steps before

	open []openCall // of the current step
	step int        // the current step

	openAsk pawl.Seq // the ask whether to go on; 0 if none is open
}

// mark is what is remembered of a step.
type mark struct {
	hash  uint64
	polls bool
}

// openCall is a call of the current step.
type openCall struct {
	id   pawl.CallID
	name string
	hash uint64 // of the call, and of its result once it is done
	done bool
}

// Verdict returns what was found at the newest step, until the next one begins.
func (d *Detector) Verdict() Verdict { return d.verdict }

// Apply folds the next event of the log and returns what it shows.
func (d *Detector) Apply(e pawl.Event) Verdict {
	switch b := e.Body.(type) {
	case pawl.TurnStarted, pawl.TurnFinished:
		*d = Detector{}
	case pawl.Injected:
		if b.Prompt != 0 { // the user steers
			*d = Detector{}
		}
	case pawl.Asked:
		if b.Kind == pawl.AskLoop {
			d.openAsk = e.Seq
		}
	case pawl.Answered:
		if b.Ask == d.openAsk && b.Outcome == pawl.OutcomeAnswered { // the user wants it to go on
			*d = Detector{}
		}
	case pawl.ReplyStarted:
		d.verdict = Verdict{}
	case pawl.Replied:
		d.begin(b.Step, b.Parts.Calls())
		return d.Reply(b.Step, b.Parts.Text())
	case pawl.CallFinished:
		return d.finish(b.Call, b.Result)
	default:
	}
	return Verdict{}
}

// Reply checks the text of a step's reply.
func (d *Detector) Reply(step int, text string) Verdict {
	if !repeatsItself(text) {
		return Verdict{}
	}
	return d.find(Verdict{Kind: Repetition, Step: step, Length: 1, Times: 1})
}

// Note checks the calls of a step: results[i] is that of calls[i]. The steps must be those of one turn,
// in order, each once.
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

// finish records a result. The last one completes the step.
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

// complete checks the step whose results are all there. Neither the order of its calls nor a duplicate
// counts: they may have run in parallel.
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
		if times := d.limit(n); d.runs[n] >= n*(times-1) {
			d.last, d.runs = [longest]mark{}, [longest + 1]int{} // count from zero again
			v := Verdict{Kind: Cycle, Step: d.step, Tool: tool, Length: n, Times: times}
			if n == 1 {
				v.Kind = Same
			}
			return d.find(v)
		}
	}
	return Verdict{}
}

// limit returns how often the newest n steps must occur to be found.
func (d *Detector) limit(n int) int {
	switch {
	case slices.ContainsFunc(d.last[:n], func(m mark) bool { return m.polls }):
		return pollTimes
	case n == 1:
		return sameTimes
	default:
		return cycleTimes
	}
}

// find records a verdict and sets its severity. A step is reported only once.
func (d *Detector) find(v Verdict) Verdict {
	if d.verdict.Kind != None && d.verdict.Step == v.Step {
		return Verdict{}
	}
	d.found++
	v.Severity = Warn
	if d.found > 1 {
		v.Severity = Stop
	}
	d.verdict = v
	return v
}
