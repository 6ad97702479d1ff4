package proc

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

func TestIdentityRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []Identity{
		Self(),
		{Host: "h", PID: 1, Start: "2", Machine: "m", Mark: "k"},
		{Host: "no-boot-id", PID: 7, Mark: "k"},
	} {
		got, err := Parse(want.String())
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	self := Self()
	if self.Host == "" || self.PID <= 0 || self.Start == "" || self.Machine == "" || self.Mark == "" {
		t.Errorf("%+v is not whole", self)
	}
	if strings.Contains(self.Host, ":") {
		t.Errorf("the host %q would be cut by Parse", self.Host)
	}
	if diff := cmp.Diff(self, Self()); diff != "" {
		t.Errorf("it changes: %s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "someone", "a:b", "h:1:2:m", "h:1:2:m:k:x", "h:one:2:m:k", "h::2:m:k"} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), "parse owner") {
			t.Errorf("Parse(%q) = %+v, %v", text, got, err)
		}
	}
}

func TestRemoved(t *testing.T) {
	t.Parallel()
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	start, ok := startTime(other.Process.Pid)
	if !ok {
		t.Fatal("a process that was just started is not there")
	}
	child := Identity{Host: "h", PID: other.Process.Pid, Start: start, Machine: Self().Machine}
	with := func(i Identity, change func(*Identity)) Identity {
		change(&i)
		return i
	}
	check := func(name string, i Identity, want bool) {
		t.Helper()
		if got := i.Ended(); got != want {
			t.Errorf("%s: Gone() = %v, want %v", name, got, want)
		}
	}
	check("this process", Self(), false)
	check("another process", child, false)
	check("a process id used anew", with(child, func(i *Identity) { i.Start += "0" }), true)
	check("its start was not known", with(child, func(i *Identity) { i.Start = "" }), true)
	check("no such process id", with(child, func(i *Identity) { i.PID = 1 << 30 }), true)
	check("nobody", Identity{}, false)

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "a killed process, not yet waited for, is gone", child.Ended)
	_ = other.Wait()
	check("a process that has ended", child, true)
	check("a process of another machine", with(child, func(i *Identity) { i.Machine = "other" }), false)
	check("a process of an unknown machine", with(child, func(i *Identity) { i.Machine = "" }), false)
}
