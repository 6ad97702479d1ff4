package proc

import (
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	termGrace = 300 * time.Millisecond // from SIGTERM to SIGKILL
	termPoll  = 20 * time.Millisecond  // between looks whether all have listened
)

// The marks in a command's environment, and so in its descendants': whose it
// is, what it is ended with, which command it is. Each value is random, and a
// process is taken for one's own only if it is all there.
const (
	markVar  = "PAWL_RUN"
	scopeVar = "PAWL_SCOPE"
	jobVar   = "PAWL_JOB"
)

// Marks are the names of the variables that a command must be let keep.
func Marks() []string { return []string{markVar, scopeVar, jobVar} }

// environ is the command's environment with the marks, which count even if pawl
// was itself started by a pawl: of two values the last one does.
func environ(c Command, job string) []string {
	env := slices.Clone(c.Env)
	if !c.Bare {
		env = append(os.Environ(), c.Env...)
	}
	env = append(env, markVar+"="+Self().Mark, jobVar+"="+job)
	if c.Scope != "" {
		env = append(env, scopeVar+"="+c.Scope)
	}
	return env
}

// Kill ends the command and all that it has started, daemons included: SIGTERM
// first, then SIGKILL to those that do not listen. It returns within a second,
// when they have ended. If the command has ended by itself, what it left
// behind is ended.
func (p *Process) Kill() {
	p.killing.Lock() // a second one would only look at the same processes
	defer p.killing.Unlock()
	kill([]string{jobVar + "=" + p.job}, p)
}

// KillAll ends the commands, and all that was started in the scopes, together.
func KillAll(scopes []string, commands ...*Process) {
	var marks []string
	for _, scope := range scopes {
		if scope != "" {
			marks = append(marks, scopeVar+"="+scope)
		}
	}
	kill(marks, commands...)
}

// kill ends the groups of the processes and whoever carries one of the marks.
func kill(marks []string, processes ...*Process) {
	var running []*Process
	for _, p := range processes {
		select {
		case <-p.done: // its number may be another's by now
		default:
			running = append(running, p)
		}
	}
	ask(marks, running)
	over := time.After(termGrace)
	for asking := true; asking && !ended(marks, running); {
		select {
		case <-over:
			asking = false
		case <-time.After(termPoll):
		}
	}
	for _, p := range running {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // those that have shed their marks
	}
	reap(marks...)
	for _, p := range running {
		<-p.done
	}
}

// ask sends everyone one SIGTERM: the groups, and those that carry a mark elsewhere.
func ask(marks []string, running []*Process) {
	var groups []int
	for _, p := range running {
		groups = append(groups, p.cmd.Process.Pid)
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	}
	for _, pid := range marked(marks...) {
		if group, err := syscall.Getpgid(pid); err == nil && !slices.Contains(groups, group) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// ended reports whether the processes have ended and nobody carries a mark.
func ended(marks []string, running []*Process) bool {
	for _, p := range running {
		select {
		case <-p.done:
		default:
			return false
		}
	}
	return len(marked(marks...)) == 0
}

const (
	reapRounds = 200 // bounds the reaping
	reapQuiet  = 2   // rounds without a find: who is just about to fork or exec can be missed in one
)

// Reap kills every process that carries the run's mark and returns when none is left.
func Reap(mark string) {
	if mark != "" {
		reap(markVar + "=" + mark)
	}
}

// reap kills whoever carries one of the marks, round by round: what has forked
// meanwhile carries it too and falls to the next.
func reap(marks ...string) {
	for round, quiet := 0, 0; round < reapRounds; round++ {
		pids := marked(marks...)
		if len(pids) > 0 {
			quiet = 0
		} else if quiet++; quiet == reapQuiet {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
