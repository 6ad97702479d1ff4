package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDetect: the sandbox is found, has been tried, and is remembered.
func TestDetect(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if backend, _ := Detect(canceled); backend.Name() != "none" {
		t.Errorf("a box was found in no time: %s", backend.Name())
	}
	backend, report := Detect(context.Background())
	if backend.Name() != "bubblewrap" || report.Backend != "bubblewrap" {
		t.Fatalf("%s: %+v", backend.Name(), report)
	}
	for _, f := range report.Findings {
		if !f.OK || f.Fix != "" && f.Name != "bubblewrap" {
			t.Errorf("%+v", f)
		}
	}
	began := time.Now()
	again, _ := Detect(context.Background())
	if again != backend || time.Since(began) > time.Millisecond*100 {
		t.Error("it is looked for again")
	}
}

func TestFindBubblewrap(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	dir := base(t)
	write := func(name string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, loose, plain := write("good", 0o755), write("loose", 0o777), write("plain", 0o644)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(loose, link); err != nil {
		t.Fatal(err)
	}
	root := os.Geteuid() == 0
	for _, test := range []struct {
		name  string
		paths []string
		found bool
		why   string
	}{
		{"none", []string{filepath.Join(dir, "none")}, false, "is not installed"},
		{"root's own", []string{filepath.Join(dir, "none"), good}, root, "is not owned by root"},
		{"others can write it", []string{loose}, false, "root"},
		{"a link to one", []string{link}, false, "root"},
		{"not a program", []string{plain}, false, map[bool]string{true: "is not an executable", false: "is not owned by root"}[root]},
		{"the system's", bubblewrapPaths, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path, f := findBubblewrap(test.paths)
			if (path != "") != test.found {
				t.Errorf("found %q: %+v", path, f)
			}
			if !test.found && (!strings.Contains(f.Detail, test.why) || f.Fix == "") {
				t.Errorf("%+v, want %q", f, test.why)
			}
		})
	}
}

func TestDiagnose(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, test := range []struct {
		name, output string
		facts        facts
		why, fix     string
	}{
		{"old", "bwrap: Unknown option --disable-userns", facts{}, "older than 0.8", "upgrade bubblewrap"},
		{"setuid", "bwrap: --disable-userns is not supported in setuid mode", facts{setuid: true, path: "/usr/bin/bwrap"}, "setuid root", "sudo chmod u-s /usr/bin/bwrap"},
		{"none allowed", "bwrap: No space left on device", facts{max: "0"}, "disabled", "user.max_user_namespaces=15000"},
		{"Debian", "bwrap: No permissions to create new namespace", facts{clone: "0", max: "1000"}, "only root", "kernel.unprivileged_userns_clone=1"},
		{"Ubuntu", "bwrap: setting up uid map: Permission denied", facts{apparmor: "1", clone: "1", path: "/usr/bin/bwrap"}, "AppArmor denies", "profile bwrap /usr/bin/bwrap flags=(unconfined)"},
		{"Ubuntu, the network", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", facts{apparmor: "1"}, "AppArmor denies", "apparmor_parser -r"},
		{"Docker", "bwrap: No permissions to create new namespace", facts{container: true, max: "1000"}, "this container does not allow", "--security-opt seccomp=unconfined"},
		{"unknown", "bwrap: something else", facts{path: "/usr/bin/bwrap"}, "something else", "/usr/bin/bwrap --unshare-all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			why, fix := diagnose(test.output, test.facts)
			if !strings.Contains(why, test.why) || !strings.Contains(fix, test.fix) {
				t.Errorf("%q\n%q", why, fix)
			}
		})
	}
}

// TestPreflight: a sandbox that does not work is found out.
func TestPreflight(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	program := filepath.Join(base(t), "bwrap")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'bwrap: no such luck' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := preflight(context.Background(), &Bubblewrap{Path: program}); err == nil || err.Error() != "bwrap: no such luck" {
		t.Error(err)
	}
	for _, backend := range backends(t) {
		if err := preflight(context.Background(), backend); err != nil {
			t.Errorf("%s: %v", backend.Name(), err)
		}
	}
}

// TestMasks: of what is hidden the outermost counts, links are followed, and
// what does not exist needs nothing.
func TestMasks(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	home := t.TempDir()
	for _, name := range []string{".ssh/keys", ".config/gh", "real", "store/deep"} {
		if err := os.MkdirAll(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".netrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(home, ".aws")); err != nil {
		t.Fatal(err)
	}
	masks, err := hide([]string{home}, []string{home + "/store/deep/", home + "/store", home + "/.ssh/keys", home + "/none"})
	if err != nil {
		t.Fatal(err)
	}
	var got []mask
	for _, m := range masks {
		if within(m.path, home) {
			got = append(got, m)
		}
	}
	want := []mask{{home + "/.config/gh", true}, {home + "/.netrc", false}, {home + "/.ssh", true}, {home + "/real", true}, {home + "/store", true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mask{})); diff != "" {
		t.Error(diff)
	}
}
