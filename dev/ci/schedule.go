package main

// schedule runs the steps, at most jobs at once, in the order of the plan as far as possible. It returns a result per
// step in that order; a step whose predecessor failed is skipped.
func schedule(steps []step, jobs int, execute func(step) result) []result {
	results := make([]result, len(steps))
	state := make([]outcome, len(steps))
	finished := make(chan int)
	running := 0
	for {
		for i, s := range steps {
			if state[i] != waiting {
				continue
			}
			switch ready(steps, state, s) {
			case failed:
				state[i], results[i] = skipped, result{step: s, outcome: skipped}
				continue
			case waiting:
				continue
			default:
			}
			if running == jobs {
				break
			}
			state[i] = started
			running++
			go func() {
				results[i] = execute(s)
				finished <- i
			}()
		}
		if running == 0 {
			return results
		}
		i := <-finished
		state[i] = results[i].outcome
		running--
	}
}

// ready reports whether a step can start: passed if all steps before it have passed, failed if one has not and
// waiting if that is not known yet.
func ready(steps []step, state []outcome, s step) outcome {
	all := passed
	for _, name := range s.after {
		switch state[find(steps, name)] {
		case failed, skipped:
			return failed
		case passed:
		default:
			all = waiting
		}
	}
	return all
}

// outcome is the state of a step.
type outcome string

const (
	waiting outcome = ""
	started outcome = "started"
	passed  outcome = "passed"
	failed  outcome = "FAILED"
	skipped outcome = "not run"
)

// count returns how many results have the outcome.
func count(results []result, o outcome) (n int) {
	for _, r := range results {
		if r.outcome == o {
			n++
		}
	}
	return n
}
