package proc

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// The ways in which a command can leave processes behind: in the background, in a
// session of their own, and as a daemon that belongs to init.
const leavesBehind = `sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 >/dev/null 2>&1 </dev/null &)`

func TestNothingOutlivesPawl(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		count  int
		end    func(*pawl)
	}{
		{"killed in mid-command", leavesBehind + "; wait", 4, func(p *pawl) { p.signal(syscall.SIGKILL) }},
		{"terminated in mid-command", leavesBehind + "; wait", 4, func(p *pawl) { p.signal(syscall.SIGTERM) }},
		{"killed after the command", leavesBehind, 3, func(p *pawl) { p.signal(syscall.SIGKILL) }},
		{"exit", leavesBehind, 3, func(p *pawl) { _ = p.stdin.Close() }},
		{"killed while it forks", `while :; do sleep 1000 & [ $(jobs -p | wc -l) -lt 30 ] || wait; done`, 31, func(p *pawl) { p.signal(syscall.SIGKILL) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := startPawl(t, test.script, test.count)
			test.end(p)
			wait.Until(t, "all that it started is gone", func() bool { return len(alive(p.pids)) == 0 })
			wait.Until(t, "and so are those that were forked since", func() bool { return len(marked(markVar+"="+p.mark)) == 0 })
		})
	}
}

func TestTheKeeperLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	one := startPawl(t, leavesBehind+"; wait", 4)
	other := startPawl(t, leavesBehind+"; wait", 4)
	one.signal(syscall.SIGKILL)
	wait.Until(t, "all that the first started is gone", func() bool { return len(alive(one.pids)) == 0 })
	if diff := cmp.Diff(other.pids, alive(other.pids)); diff != "" {
		t.Errorf("the second lost processes: %s", diff)
	}
}

func TestReap(t *testing.T) {
	t.Parallel()
	one := startPawl(t, leavesBehind, 3)
	other := startPawl(t, leavesBehind, 3)

	Reap(one.mark)
	if left := alive(one.pids); len(left) > 0 {
		t.Errorf("Reap returned while %v were alive", left)
	}
	Reap("")
	Reap(one.mark[:len(one.mark)-1]) // a prefix of a mark is not the mark
	Reap(other.mark[:len(other.mark)-1])
	if diff := cmp.Diff(other.pids, alive(other.pids)); diff != "" {
		t.Errorf("the second lost processes: %s", diff)
	}
}
