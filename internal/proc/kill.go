package proc

import (
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	termGrace = 300 * time.Millisecond // from SIGTERM to SIGKILL
	termPoll  = 20 * time.Millisecond  // interval between checks whether the processes have ended
)

// Environment variables that mark a command and its descendants: the pawl process
// that started it, its scope for KillAll, and the command itself. The values are
// random, so that a process with the same variable and value certainly belongs to
// this pawl.
const (
	markVar  = "PAWL_RUN"
	scopeVar = "PAWL_SCOPE"
	jobVar   = "PAWL_JOB"
)

// Marks returns the names of the environment variables that a command must inherit.
func Marks() []string { return []string{markVar, scopeVar, jobVar} }

// environ returns the environment of a command with its marks. They come last, so
// that they override those of another pawl that started this one.
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

// Kill ends the command and all processes that it started, including daemons: first
// with SIGTERM, then with SIGKILL. It returns when they have ended, which takes
// less than a second. If the command itself has ended already, Kill ends the
// processes that it left behind.
func (p *Process) Kill() {
	p.killing.Lock() // a concurrent call would only kill the same processes
	defer p.killing.Unlock()
	kill([]string{jobVar + "=" + p.job}, p)
}

// KillAll ends the given commands, and all processes started in the given scopes,
// at the same time.
func KillAll(scopes []string, commands ...*Process) {
	var marks []string
	for _, scope := range scopes {
		if scope != "" {
			marks = append(marks, scopeVar+"="+scope)
		}
	}
	kill(marks, commands...)
}

// kill ends the process groups of the commands, and all processes with one of the
// marks.
func kill(marks []string, processes ...*Process) {
	var running []*Process
	for _, p := range processes {
		select {
		case <-p.done: // its process id may be reused
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
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // includes processes that removed their marks
	}
	reap(marks...)
	for _, p := range running {
		<-p.done
	}
}

// ask sends one SIGTERM to each process: to the groups of the commands, and to
// marked processes outside of these groups.
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

// ended reports whether all commands have ended and no process has one of the
// marks.
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
	reapRounds = 200 // maximum number of rounds
	reapQuiet  = 2   // empty rounds before the end: a single one can miss a process that is about to fork or exec
)

// Reap kills every process with the mark of a pawl process, and returns when none
// is left.
func Reap(mark string) {
	if mark != "" {
		reap(markVar + "=" + mark)
	}
}

// reap kills all processes with one of the marks, in rounds: a process forked
// during a round has the mark too and is killed in the next.
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
