package policy

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// TestUseBase: hooks run the scripts of the base commit, and work on the files of the
// worktree.
func TestUseBase(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	putFile(t, filepath.Join(base, "scripts/guard.sh"), "exit 2\n")
	putFile(t, filepath.Join(base, "scripts/run"), "#!/bin/sh\n")
	putFile(t, filepath.Join(base, ".claude/hooks/check.py"), "pass\n")
	putFile(t, filepath.Join(base, "main.go"), "package main\n")
	putFile(t, filepath.Join(base, "tool"), "x")
	if err := os.Chmod(filepath.Join(base, "tool"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"sh scripts/guard.sh":                                  `sh "${PAWL_BASE_DIR}"/scripts/guard.sh`,
		"sh -e scripts/guard.sh":                               `sh -e "${PAWL_BASE_DIR}"/scripts/guard.sh`,
		"./scripts/run --all; ./tool":                          `"${PAWL_BASE_DIR}"/./scripts/run --all; "${PAWL_BASE_DIR}"/./tool`,
		".claude/hooks/check.py":                               `"${PAWL_BASE_DIR}"/.claude/hooks/check.py`,
		`python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/check.py`: `python3 "${PAWL_BASE_DIR}"/.claude/hooks/check.py`,
		`"$CLAUDE_PROJECT_DIR/.claude/hooks/check.py"`:         `"${PAWL_BASE_DIR}/.claude/hooks/check.py"`,
		"${PAWL_PROJECT_DIR}/tool a":                           "${PAWL_BASE_DIR}/tool a",
		`bash -c 'scripts/run && cat main.go'`:                 `bash -c '${PAWL_BASE_DIR}/scripts/run && cat main.go'`,
		"gofmt -l main.go":                                     "gofmt -l main.go",
		"cat ../scripts/guard.sh /scripts/run":                 "cat ../scripts/guard.sh /scripts/run",
		`ls "$CLAUDE_PROJECT_DIR"/new`:                         `ls "$CLAUDE_PROJECT_DIR"/new`,
	} {
		if got := baseCommand(line, base); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	args := []string{"python3", "-u", "$CLAUDE_PROJECT_DIR/.claude/hooks/check.py", "main.go", "scripts/run"}
	want := []string{"python3", "-u", filepath.Join(base, ".claude/hooks/check.py"), "main.go", filepath.Join(base, "scripts/run")}
	if diff := cmp.Diff(want, baseArgs(args, base)); diff != "" {
		t.Error(diff)
	}
}

// denies reports whether the policy of a worktree has the project's rule.
func denies(t *testing.T, s *Safety, dir string) bool {
	t.Helper()
	p, err := s.Policy(t.Context(), session, dir, pawl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rules {
		if r.Origin == permission.OriginProject && r.Pattern == "rm *" {
			return true
		}
	}
	return false
}

// TestGuardWorktree: the trusted configuration of the base commit applies in a worktree,
// not that of its own files. Without a record of it nothing may run there.
func TestGuardWorktree(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const rule = `{"permissions":{"rules":[{"tool":"bash","pattern":"rm *","decision":"deny"}]}}`
	s, repo, top := worktrees(t)
	base, place := filepath.Join(top, "base"), filepath.Join(top, "one")
	putFile(t, filepath.Join(repo.Top, ".pawl/config.json"), rule)
	guarding := Guarding{Repo: repo, Project: repo.Top, Checkout: base, Worktree: place}
	guard := func(c Guarding) {
		t.Helper()
		err := errors.Join(s.Unguard(base), os.RemoveAll(base), os.MkdirAll(base, 0o700), s.GuardWorktree(t.Context(), c))
		if err != nil {
			t.Fatal(err)
		}
		s.LookAgain()
	}
	putFile(t, filepath.Join(place, ".pawl/config.json"), rule)
	if guard(guarding); denies(t, s, place) {
		t.Error("the rule of a project that is not trusted applies")
	}
	seen, err := s.LookAt(t.Context(), repo.Top)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust().Trust(repo.Top, seen.Hash, time.Now()); err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(place, ".pawl/config.json"), "{}")
	if guard(guarding); !denies(t, s, place) {
		t.Error("what is trusted and not committed does not apply")
	}
	putFile(t, filepath.Join(repo.Top, ".pawl/config.json"), "{}")
	s.LookAgain()
	if !denies(t, s, place) {
		t.Error("a change of the project takes the guards away")
	}
	two := guarding
	two.Worktree = filepath.Join(top, "two")
	if err := s.GuardWorktree(t.Context(), two); err != nil || !denies(t, s, two.Worktree) {
		t.Errorf("the next worktree has other guards: %v", err)
	}
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	s.LookAgain()
	if _, err := s.Policy(t.Context(), session, place, pawl.Settings{}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("without the base: %v", err)
	}
	if err := s.Unguard(place); err != nil {
		t.Fatal(err)
	}
	s.LookAgain()
	if _, err := s.Policy(t.Context(), session, place, pawl.Settings{}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("without a record: %v", err)
	}
}
