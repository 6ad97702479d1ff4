//go:build cheats

package mutate

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// compilers check a file of testdata, which is the last argument.
var compilers = map[string][]string{
	"cart.py":   {"python3", "-m", "py_compile"},
	"cart.mjs":  {"node", "--check"},
	"cart.sh":   {"bash", "-n"},
	"cart.pl":   {"perl", "-c"},
	"cart.c":    {"gcc", "-fsyntax-only", "-w"},
	"cart.rs":   {"rustc", "--crate-type", "lib", "--emit", "metadata", "--edition", "2021", "--out-dir", ".", "-A", "warnings"},
	"Cart.java": {"javac", "-d", ".", "-nowarn"},
}

// maxRuns bounds how often a compiler runs for the mutants of a file.
const maxRuns = 16

// TestCompilersAccept checks with real compilers that at least nine of ten mutants are
// valid, that all crash statements and comments are, and that Break is not.
func TestCompilersAccept(t *testing.T) {
	t.Parallel()
	for name, command := range compilers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Fatalf("%s is not installed", command[0])
			}
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			s, ok := Parse(name, text)
			if !ok {
				t.Fatal("not read")
			}
			accepts := func(what string, text []byte) bool { return compile(t, command, name, what, text) }
			if !accepts("the sample", text) {
				t.Fatal("the sample is not valid")
			}
			checkMutants(t, s, accepts)
			checkProbes(t, s, accepts)
		})
	}
}

func checkMutants(t *testing.T, s *Source, accepts func(string, []byte) bool) {
	t.Helper()
	mutants := append(s.Mutants(allLines(s), 99), s.Bodies(allLines(s))...)
	runs, bad := 0, 0
	for i := 0; i < len(mutants); i += len(mutants)/maxRuns + 1 {
		runs++
		if m := mutants[i]; !accepts(m.Operator+": "+m.After, m.Text) {
			bad++
		}
	}
	if bad*10 > runs || runs < 10 {
		t.Errorf("%d of %d mutants are not valid", bad, runs)
	}
}

func checkProbes(t *testing.T, s *Source, accepts func(string, []byte) bool) {
	t.Helper()
	crashes := 0
	for _, line := range allLines(s) {
		text, ok := s.Crash(line)
		if !ok {
			continue
		}
		if crashes++; crashes%6 == 0 && !accepts("crash: "+s.lineText(line), text) {
			t.Errorf("the crash before line %d is not valid", line)
		}
	}
	if crashes < 5 {
		t.Errorf("only %d crashes", crashes)
	}
	if text, ok := s.Comment(); !ok || !accepts("comment", text) {
		t.Error("the comment is not valid")
	}
	if text, ok := s.Break(); !ok || bytes.Equal(text, s.Text) || accepts("", text) {
		t.Error("Break is valid")
	}
}

// compile reports whether a compiler accepts a text.
func compile(t *testing.T, command []string, name, what string, text []byte) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:len(command):len(command)], name)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && what != "" {
		t.Logf("%s is not valid: %s", what, out)
	}
	return err == nil
}
