package mcpserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// TestFolderStaysBelow: whatever a request names, the directory that it gets is the
// root or below it, and no part of its path is a link.
func TestFolderStaysBelow(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "root")
	for _, dir := range []string{"root/a/b", "root2/a", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"root/up": "..", "root/a/out": base + "/other", "root/in": "a/b", "root/round": "round", "root/a/twice": "../up/root2"} {
		if err := os.Symlink(to, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{Config: Config{Root: root}}
	words := []string{"a", "b", "up", "out", "in", "round", "twice", "..", ".", "", "root", "root2", "other", "\x00"}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6).Draw(t, "words"), "/")
		if rapid.Bool().Draw(t, "absolute") {
			name = rapid.SampledFrom([]string{root, base, "/"}).Draw(t, "from") + "/" + name
		}
		got, err := s.directory(name)
		if err != nil {
			return
		}
		found++
		real, err := filepath.EvalSymlinks(got)
		if err != nil || real != got || got != root && !strings.HasPrefix(got, root+"/") {
			t.Fatalf("%q gave %q, which is %q: %v", name, got, real, err)
		}
	})
	if found == 0 {
		t.Error("no folder was found: the test shows nothing")
	}
}

// TestSettings: a request can choose less than the user's flags say, and not more.
func TestSettings(t *testing.T) {
	t.Parallel()
	user := pawl.Settings{Agent: "build", Model: "m", Mode: "guard", MaxSteps: 7, Tools: []string{"read"}, Trusted: true}
	with := func(change func(*pawl.Settings)) pawl.Settings {
		s := user
		s.Trusted = false
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		any  bool
		in   runInput
		want pawl.Settings
		err  string
	}{
		{name: "nothing", want: with(func(*pawl.Settings) {})},
		{name: "stricter", in: runInput{Mode: "plan"}, want: with(func(s *pawl.Settings) { s.Mode = "plan" })},
		{name: "agent", in: runInput{Agent: "explore"}, want: with(func(s *pawl.Settings) { s.Agent = "explore" })},
		{name: "the same model", in: runInput{Model: "m"}, want: with(func(*pawl.Settings) {})},
		{name: "any model", any: true, in: runInput{Model: "n"}, want: with(func(s *pawl.Settings) { s.Model = "n" })},
		{name: "another model", in: runInput{Model: "n"}, err: "cannot be chosen by a request"},
		{name: "looser", in: runInput{Mode: "yolo"}, err: "cannot be chosen by a request"},
		{name: "a mode in capitals", in: runInput{Mode: "PLAN"}, err: "cannot be chosen by a request"},
	} {
		s := &server{Config: Config{Settings: user, AnyModel: c.any}}
		got, err := s.settings(c.in)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		if err == nil && !cmp.Equal(got, c.want) {
			t.Errorf("%s (-want, +got):\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// TestReach: no mode reaches one that stands behind it, and auto none that asks.
func TestReach(t *testing.T) {
	t.Parallel()
	order := []string{"plan", "ask", "guard", "auto", "yolo"}
	for i, mode := range order {
		modes := reach(mode)
		if len(modes) == 0 || modes[0] != mode || !slices.Contains(modes, "plan") {
			t.Errorf("%s reaches %v", mode, modes)
		}
		for _, other := range modes {
			if slices.Index(order, other) > i || mode == "auto" && (other == "ask" || other == "guard") {
				t.Errorf("%s reaches %s", mode, other)
			}
		}
	}
	if reach("") != nil || reach("YOLO") != nil {
		t.Error("an unknown mode reaches something")
	}
}
